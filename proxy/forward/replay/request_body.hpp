// The body of one request: read from the client when attempts need it, and held in memory, then on disk.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/forward/replay/replay_file.hpp"
#include "proxy/forward/replay/replay_reader.hpp"
#include "proxy/http/message/head.hpp"
#include "proxy/net/ends/body_source.hpp"
#include "proxy/net/io/guarded_pointer.hpp"

namespace reprise::forward {

/// Limits on how much of one request body may be held, in bytes. All limits are 0 for a request that no rule
/// could retry.
struct HoldLimits {
  std::uint64_t memory = 0;
  std::uint64_t disk = 0;  ///< a body longer than `memory` goes to disk completely
  /// Limit for a body that arrived completely with its head. Holding such a body costs nothing. If the body
  /// is longer, it is not replayable once its sending has begun (row D5).
  std::uint64_t in_place = 0;
  Instant until = Instant::max();  ///< time at which every wait for the disk ends
  /// Longest accepted body, in bytes. A longer body ends as `malformed`.
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

/// Used for one request at a time, within one session. `cancel` ends a wait for the disk.
class RequestBody final : public net::Cancellable {
 public:
  RequestBody() = default;
  ~RequestBody() { end(); }
  RequestBody(const RequestBody&) = delete;
  RequestBody& operator=(const RequestBody&) = delete;

  /// Starts a body that is read from `client`. Precondition: `client` has returned no byte of the body yet.
  /// All references must outlive the use of the body.
  void begin(net::BodySource& client, ReplayStore& store, const http::RequestHead& head, HoldLimits);
  /// Call before the first byte is sent upstream. A body over its limit is not replayable from then on.
  void sending_begins() { replayable_ = replayable_ && !over_limit_; }
  /// Releases what is held and prepares for another `begin`.
  void end();

  bool has_body() const { return framing_.kind != http::Framing::Kind::none; }
  bool chunked() const { return framing_.kind == http::Framing::Kind::chunked; }
  /// Returns true if the whole body was read from the client.
  bool complete() const {
    return client_ == nullptr || in_place() || (unheld_.empty() && client_->complete());
  }
  /// Returns true if a second attempt may send the body now, beside one that is under way: the body is
  /// complete, and no upload uses the last piece that `next` has returned.
  bool may_be_shared() const { return complete() && !piece_in_use_; }
  /// While the result exists, `waiting` is cancelled when an upload has come to the end of the body.
  [[nodiscard]] net::GuardedPointer<net::Cancellable>::Guard wake_at_end(net::Cancellable& waiting) {
    return {waits_for_end_, &waiting};
  }
  /// Returns true if every byte that `next` has returned is held, so that an attempt can send the body again.
  bool replayable() const { return replayable_ && (file_ == nullptr || !file_->failed()); }
  /// Returns true if the whole body is in memory and within its limit. A rule may read `held` only then.
  bool whole_in_memory() const { return complete() && replayable_ && !over_limit_ && file_ == nullptr; }
  /// Returns the bytes held in memory, from byte 0: the whole body if `complete()` is true. Empty if the body
  /// is on disk or was released.
  std::string_view held() const { return in_place() ? in_place_ : std::string_view(held_); }
  /// Returns how many bytes, from byte 0, are on disk or on their way there.
  std::uint64_t stored() const { return file_ == nullptr ? 0 : file_->size(); }
  /// Returns a reader of the stored bytes. Precondition: `stored()` is not 0.
  std::unique_ptr<ReplayReader> read_stored();
  /// Appends the trailer lines that are passed to the upstream (row J1).
  void append_trailers(std::string& out) const;
  std::uint64_t received() const { return received_; }
  /// Returns why `next` or `count` returned `malformed`.
  http::Rejection malformation() const {
    if (received_ + unheld_.size() > limits_.most) return http::Rejection::content_too_large;
    return uncounted_ ? http::Rejection::length_required : client_->malformation();
  }
  /// Ends the pending read from the client. Later reads work.
  void end_read() { client_->end_read(); }

  /// Reads the next piece from the client, or from the bytes that came with the head, and holds it. `piece`
  /// is valid until the next call. Waits for a disk that is slower than the client. Returns `stalled` if
  /// `cancel` ended that wait.
  Task<net::BodyStep> next(Duration idle, std::string_view& piece);
  /// Reads a chunked body completely to learn its length, and then removes its chunked framing (row A10).
  /// Returns `end` on success. Returns `piece` if the body is too long to hold: no byte is lost, and the body
  /// is sent chunked. Otherwise returns the step that failed. Returns `malformed` also if the disk lost held
  /// bytes.
  Task<net::BodyStep> count(Duration idle);
  /// Returns true while `next` waits for the client. `release_held` may be called meanwhile.
  bool waits_for_client() const { return waits_for_client_; }
  /// Releases the held bytes. The body cannot be sent again afterwards.
  void release_held();
  /// Waits until all stored bytes are written or the file has failed.
  Task<void> settle();
  void cancel() override;

 private:
  bool in_place() const { return !in_place_.empty(); }
  void hold(std::string_view piece, Allotment block);
  bool add(std::string_view piece, Allotment block);
  bool add_in_memory(std::string_view piece);
  void make_room_for(std::size_t bytes);
  bool add_on_disk(std::string_view piece, Allotment block);
  net::BodyStep end_reached();
  bool is_for_disk() const;
  Task<bool> take_block(Allotment& block);
  std::size_t part_that_is_held() const;
  asio::any_io_executor executor() { return client_->executor(); }

  net::BodySource* client_ = nullptr;  ///< null outside of `begin` and `end`
  ReplayStore* store_ = nullptr;
  const http::RequestHead* head_ = nullptr;
  http::Framing framing_;
  HoldLimits limits_;
  std::uint64_t received_ = 0;
  std::string held_;
  Allotment memory_;
  std::unique_ptr<ReplayFile> file_;
  std::string_view unheld_;    ///< bytes that were read, but that `next` has not returned yet
  std::string_view in_place_;  ///< a whole body that came with its head, held in the head's buffer
  bool replayable_ = true;
  bool over_limit_ = false;
  bool wanted_ = false;     ///< some rule could allow a retry
  bool uncounted_ = false;  ///< the body was lost while its length was being determined
  bool cancelled_ = false;
  bool waits_for_client_ = false;
  bool piece_in_use_ = false;  ///< the last piece that `next` returned is still being sent
  net::GuardedPointer<net::Cancellable> waits_for_end_;
  Duration waited_{};  ///< total time spent waiting for memory that other bodies' blocks occupy
};

}  // namespace reprise::forward
