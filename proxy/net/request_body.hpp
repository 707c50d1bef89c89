// The body of one request: read from the client as attempts need it, and held for replay as far as the limits
// allow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/net/body_reader.hpp"
#include "proxy/net/loop.hpp"

namespace reprise::net {

/// Belongs to one request of one session.
class RequestBody {
 public:
  RequestBody() = default;
  ~RequestBody() { end(); }
  RequestBody(const RequestBody&) = delete;
  RequestBody& operator=(const RequestBody&) = delete;

  /// `buffer` holds the bytes behind the head, and gets back what was read beyond the body. `hold_bytes` is
  /// the most that may be held (0: hold nothing). All references must outlive the body's use.
  void begin(Stream& client, Buffer& buffer, ReplayMemory& memory, const http::RequestHead& head,
             std::size_t hold_bytes);
  /// A body that came with its head costs no memory to hold, but keeps the same limit: over `most_bytes` it
  /// is not replayable once its sending has begun (row D5). Called after `begin`.
  void limit_replay(std::size_t most_bytes) { over_limit_ = in_place_.size() > most_bytes; }
  /// The first byte may now leave.
  void sending_begins() { replayable_ = replayable_ && !over_limit_; }
  /// Gives held memory back; ready for another `begin`.
  void end();

  bool has_body() const { return framing_.kind != http::Framing::Kind::none; }
  bool chunked() const { return framing_.kind == http::Framing::Kind::chunked; }
  /// Everything was read from the client.
  bool complete() const { return in_place() || reader_.complete(); }
  /// Every byte read so far is held.
  bool replayable() const { return replayable_; }
  /// What is at hand from byte 0: the whole body if also `complete`; nothing of a body that was let go of.
  std::string_view held() const { return in_place() ? in_place_ : std::string_view(held_); }
  /// Appends the trailer lines that go on to the upstream (row J1).
  void append_trailers(std::string& out) const;
  std::uint64_t received() const { return received_; }
  http::Cause malformation() const { return reader_.malformation(); }
  Stream& client() { return reader_.stream(); }

  /// Reads the next piece from the client (or from what was read with the head) and holds it. `piece` lives
  /// until the next call.
  Task<BodyStep> next(Duration idle, std::string_view& piece);

 private:
  bool in_place() const { return !in_place_.empty(); }
  void hold(std::string_view piece);
  void stop_holding();

  BodyReader reader_;
  ReplayMemory* memory_ = nullptr;
  const http::RequestHead* head_ = nullptr;
  http::Framing framing_;
  std::size_t hold_bytes_ = 0;
  std::uint64_t received_ = 0;
  std::string held_;
  std::string_view in_place_;  ///< a whole body that came with its head is held where it lies
  bool replayable_ = true;
  bool over_limit_ = false;
};

}  // namespace reprise::net
