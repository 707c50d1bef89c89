// Ends the upload of a repeatable request at the deadline if the upstream's host has acknowledged nothing of
// the body.
#pragma once

#include <optional>

#include "proxy/forward/replay/upload.hpp"
#include "proxy/forward/request/outgoing.hpp"
#include "proxy/net/io/tick.hpp"

namespace reprise::forward {

/// One per attempt. Ends the attempt if, at the deadline or later, body bytes have been on their way for a
/// second and none of the body was ever acknowledged (decision 0014, row L6). A body that has moved may
/// pause, and a client that pauses does not count. Looks ten times a second from a second before the deadline
/// on, until the first acknowledgement: a request that is done by then costs only the arming, one without a
/// body not even that.
class UploadStall final : public net::Timed {
 public:
  /// Everything must outlive it. `head_bytes`: of the request's head, which goes first.
  UploadStall(net::Tick& tick, const Outgoing& out, std::uint64_t head_bytes, const Upload& upload,
              net::Stream& upstream, std::optional<Instant> deadline)
      : tick_(tick),
        out_(out),
        upload_(upload),
        upstream_(upstream),
        deadline_(deadline),
        head_bytes_(head_bytes) {}

  /// The upload has begun.
  void watch();
  /// The attempt has an outcome.
  void end() { net::Tick::disarm(*this); }
  /// True if it has cancelled the connection's reads and writes.
  bool ended_attempt() const { return ended_attempt_; }

 private:
  void time_is_up() override;

  net::Tick& tick_;
  const Outgoing& out_;
  const Upload& upload_;
  net::Stream& upstream_;
  std::optional<Instant> deadline_;
  std::uint64_t head_bytes_;
  std::optional<Instant> waiting_since_;  ///< when unacknowledged bytes were seen first
  bool ended_attempt_ = false;
};

}  // namespace reprise::forward
