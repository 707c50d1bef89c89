// The route of one request: the policy that it is served under, and the upstream that it goes to.
#pragma once

#include <memory>

#include "proxy/net/upstream/pool.hpp"
#include "proxy/net/upstream/snapshot.hpp"
#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"

namespace reprise::forward {

/// Complete once the request's head has been read; does not change afterwards, except that a redirected TLS
/// connection is routed again by its server name.
struct Route {
  std::shared_ptr<const net::Snapshot> snapshot;  ///< the configuration that the request began under
  std::size_t number = 0;                         ///< in the snapshot's table of routes
  const policy::RoutePolicy* policy = nullptr;
  std::shared_ptr<net::Upstream> upstream;
  policy::Facts facts;
  /// The client asked for a tunnel to the upstream, or for something inside one.
  bool in_tunnel = false;

  /// Chooses the first route of the snapshot that matches.
  void choose(const policy::RequestView&);
  /// True if the request itself goes to the parent proxy, in absolute-form. What is over TLS, and what the
  /// client asked a tunnel for, reaches its upstream through a tunnel: the parent must not read it.
  bool is_for_parent() const { return upstream->parent != nullptr && !in_tunnel && upstream->tls == nullptr; }
  /// Whose connections carry the request: the parent's, or the upstream's.
  const std::shared_ptr<net::Upstream>& carrier() const {
    return is_for_parent() ? upstream->parent : upstream;
  }
};

}  // namespace reprise::forward
