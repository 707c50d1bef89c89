// The body of one request: read from the client as attempts need it, and held for replay as far as the limits
// allow: in memory, then on disk.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/forward/replay/replay_file.hpp"
#include "proxy/forward/replay/replay_reader.hpp"
#include "proxy/net/io/body_reader.hpp"

namespace reprise::forward {

/// The most that may be held of one body, in bytes. Nothing of a request that no rule could retry.
struct HoldLimits {
  std::uint64_t memory = 0;
  std::uint64_t disk = 0;  ///< a body over `memory` goes to disk whole
  /// A body that came with its head costs nothing to hold, but keeps a limit: over it, it is not replayable
  /// once its sending has begun (row D5).
  std::uint64_t in_place = 0;
  Instant until = Instant::max();  ///< no wait for the disk goes on after this
  /// A longer body is malformed.
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

/// Belongs to one request of one session. `cancel` ends a wait for the disk.
class RequestBody final : public net::Cancellable {
 public:
  RequestBody() = default;
  ~RequestBody() { end(); }
  RequestBody(const RequestBody&) = delete;
  RequestBody& operator=(const RequestBody&) = delete;

  /// `buffer` holds the bytes behind the head, and gets back what was read beyond the body. All references
  /// must outlive the body's use.
  void begin(net::Stream& client, net::Buffer& buffer, ReplayStore& store, const http::RequestHead& head,
             HoldLimits);
  /// The first byte may now leave.
  void sending_begins() { replayable_ = replayable_ && !over_limit_; }
  /// Gives back what is held; ready for another `begin`.
  void end();

  bool has_body() const { return framing_.kind != http::Framing::Kind::none; }
  bool chunked() const { return framing_.kind == http::Framing::Kind::chunked; }
  /// Everything was read from the client.
  bool complete() const { return in_place() || (unheld_.empty() && reader_.complete()); }
  /// Every byte read so far is held, but for what `next` is still to hand out.
  bool replayable() const { return replayable_ && (file_ == nullptr || !file_->failed()); }
  /// All of it is in memory, inside the limit for that: a rule may look into `held`.
  bool whole_in_memory() const { return complete() && replayable_ && !over_limit_ && file_ == nullptr; }
  /// What is at hand from byte 0: the whole body if also `complete`;
  /// nothing of a body that is on disk or was let go of.
  std::string_view held() const { return in_place() ? in_place_ : std::string_view(held_); }
  /// Bytes from byte 0 that are on disk, or on their way there.
  std::uint64_t stored() const { return file_ == nullptr ? 0 : file_->size(); }
  /// Reads what is stored now; only while that is more than 0.
  std::unique_ptr<ReplayReader> read_stored();
  /// Appends the trailer lines that go on to the upstream (row J1).
  void append_trailers(std::string& out) const;
  std::uint64_t received() const { return received_; }
  /// Why a step was `malformed`.
  http::Rejection malformation() const {
    if (received_ + unheld_.size() > limits_.most) return http::Rejection::content_too_large;
    return uncounted_ ? http::Rejection::length_required : reader_.malformation();
  }
  net::Stream& client() { return reader_.stream(); }
  /// See BodyReader.
  net::Buffer& read_beyond() { return reader_.read_beyond(); }

  /// Reads the next piece from the client (or from what was read with the head) and holds it. `piece` lives
  /// until the next call. Waits for a disk that is slower than the client; stalled if `cancel` ended that.
  Task<net::BodyStep> next(Duration idle, std::string_view& piece);
  /// Reads all of a chunked body; from then on it has a length, and its chunks are gone (row A10). `piece`
  /// where it is more than can be held: nothing is lost then, the body is sent on as if this had not been
  /// called. Else what kept it from that; `malformed` also where the disk has lost what it held.
  Task<net::BodyStep> count(Duration idle);
  /// Frees the held bytes: from now on the body cannot be sent again.
  void let_go();
  /// Until it is known whether what is stored is stored.
  Task<void> settle();
  void cancel() override;

 private:
  bool in_place() const { return !in_place_.empty(); }
  void hold(std::string_view piece, Allotment block);
  bool add(std::string_view piece, Allotment block);
  bool add_in_memory(std::string_view piece);
  void make_room_for(std::size_t bytes);
  bool add_on_disk(std::string_view piece, Allotment block);
  bool is_for_disk() const;
  Task<bool> take_block(Allotment& block);
  std::size_t part_that_is_held() const;
  asio::any_io_executor executor() { return reader_.stream().executor(); }

  net::BodyReader reader_;
  ReplayStore* store_ = nullptr;
  const http::RequestHead* head_ = nullptr;
  http::Framing framing_;
  HoldLimits limits_;
  std::uint64_t received_ = 0;
  std::string held_;
  Allotment memory_;
  std::unique_ptr<ReplayFile> file_;
  std::string_view unheld_;    ///< read, and not handed out yet
  std::string_view in_place_;  ///< a whole body that came with its head is held where it lies
  bool replayable_ = true;
  bool over_limit_ = false;
  bool wanted_ = false;     ///< some rule could send it again
  bool uncounted_ = false;  ///< lost while it was being counted
  bool cancelled_ = false;
  Duration waited_{};  ///< for memory that the blocks of other bodies have, in all
};

}  // namespace reprise::forward
