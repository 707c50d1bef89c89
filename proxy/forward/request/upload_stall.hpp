// Ends an upload at the deadline if the upstream's host has acknowledged no byte of the body, and the request
// is repeatable or was not sent at all.
#pragma once

#include <optional>

#include "proxy/forward/replay/upload.hpp"
#include "proxy/forward/request/outgoing.hpp"
#include "proxy/net/io/tick.hpp"

namespace reprise::forward {

/// One per attempt. Ends the attempt if, at the deadline or later, body bytes have been unacknowledged for a
/// second and no body byte was ever acknowledged (decision 0014, row L6). A body that has made progress may
/// pause. Pauses of the client do not count.
///
/// Checks ten times a second, from one second before the deadline until the first acknowledgement. If a
/// request finishes earlier, the only cost is the arming of a timer. A request without a body costs
/// nothing, unless its head waits behind the body of another request of the HTTP/2 connection.
class UploadStall final : public net::Timed {
 public:
  /// All arguments must outlive this object. `head_bytes`: size of the request's head, which is sent first.
  UploadStall(net::Tick& tick, const Outgoing& out, std::uint64_t head_bytes, const Upload& upload,
              net::UpstreamEnd& upstream, std::optional<Instant> deadline)
      : tick_(tick),
        out_(out),
        upload_(upload),
        upstream_(upstream),
        deadline_(deadline),
        head_bytes_(head_bytes) {}

  /// Starts watching. Precondition: the upload has begun.
  void watch();
  /// Stops watching. Call when the attempt has an outcome.
  void end() { net::Tick::disarm(*this); }
  /// Returns true if this object has cancelled the connection's reads and writes.
  bool ended_attempt() const { return ended_attempt_; }

 private:
  void time_is_up() override;

  net::Tick& tick_;
  const Outgoing& out_;
  const Upload& upload_;
  net::UpstreamEnd& upstream_;
  std::optional<Instant> deadline_;
  std::uint64_t head_bytes_;
  std::optional<Instant> waiting_since_;  ///< time at which unacknowledged bytes were first seen
  bool ended_attempt_ = false;
};

}  // namespace reprise::forward
