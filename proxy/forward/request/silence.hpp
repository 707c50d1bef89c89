// Whether anybody is still there on a connection that has
// served before, while a response is waited for on it.
#pragma once

#include <optional>

#include "proxy/forward/request/outgoing.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/net/io/attempt_cancel.hpp"

namespace reprise::forward {

/// One attempt's. Ends the waiting of a request that may be repeated, and of which the other side has
/// acknowledged nothing (row L4).
class Silence final : public net::Lookout {
 public:
  /// `begun`: nothing of the request was sent before. Everything must outlive it.
  Silence(const Outgoing& out, const Response& response, Instant begun, std::optional<Instant> deadline)
      : out_(out), response_(response), begun_(begun), deadline_(deadline) {}

  void look_out() override;
  /// What ended the attempt, named if it was this; and what that shows of how long the upstream keeps
  /// connections at rest is told to the pool (row L5).
  void heed(net::Pool&, policy::Failed&) const;

 private:
  const Outgoing& out_;
  const Response& response_;
  Instant begun_;
  std::optional<Instant> deadline_;
  bool found_ = false;
};

}  // namespace reprise::forward
