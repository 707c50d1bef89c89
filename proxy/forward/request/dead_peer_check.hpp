// Detects a dead peer on a reused connection while a response is pending.
#pragma once

#include <optional>

#include "proxy/forward/request/outgoing.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/net/io/attempt_cancel.hpp"

namespace reprise::forward {

/// One per attempt. Ends the attempt if the request may be repeated and the peer has acknowledged no byte of
/// the request (row L4).
class DeadPeerCheck final : public net::LivenessCheck {
 public:
  /// `begun`: no byte of the request was sent before this time. All arguments must outlive this object.
  DeadPeerCheck(const Outgoing& out, const Response& response, Instant begun, std::optional<Instant> deadline)
      : out_(out), response_(response), begun_(begun), deadline_(deadline) {}

  void check_liveness() override;
  /// Corrects the failure's cause if this check ended the attempt. Reports to the pool how long the upstream
  /// seems to keep idle connections (row L5).
  void attribute_failure(net::Pool&, policy::Failed&) const;

 private:
  const Outgoing& out_;
  const Response& response_;
  Instant begun_;
  std::optional<Instant> deadline_;
  bool found_ = false;
};

}  // namespace reprise::forward
