// The route of one request: its policy and its upstream.
#pragma once

#include <memory>

#include "proxy/net/upstream/pool.hpp"
#include "proxy/net/upstream/snapshot.hpp"
#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"

namespace reprise::forward {

/// Complete once the request's head has been read, and unchanged afterwards. Exception: when the server name
/// (SNI) of a redirected TLS connection is known, the route is chosen again.
struct Route {
  std::shared_ptr<const net::Snapshot> snapshot;  ///< the configuration of this request
  std::size_t number = 0;                         ///< index in the snapshot's route table
  const policy::RoutePolicy* policy = nullptr;
  std::shared_ptr<net::Upstream> upstream;
  policy::Facts facts;
  /// The client asked for a tunnel to the upstream, or sent the request inside one.
  bool in_tunnel = false;
  bool is_call = false;  ///< the request is a gRPC call, which never falls back to HTTP/1 (row M21)

  /// Chooses the first matching route of the snapshot.
  void choose(const policy::RequestView&);
  /// Returns true if the request is sent to the parent proxy in absolute-form. Returns false if the upstream
  /// is reached over TLS, if the request asks for a tunnel, or if it was sent inside one. The parent must not
  /// read such requests, so they pass through a tunnel of the parent. So do requests that need HTTP/2 (row
  /// M28).
  bool is_for_parent() const {
    return upstream->parent != nullptr && !in_tunnel && upstream->tls == nullptr && !needs_http2();
  }
  /// Returns true if the request goes over HTTP/2 or fails.
  bool needs_http2() const {
    return policy->http2 == policy::UseHttp2::always ||
           (policy->http2 == policy::UseHttp2::automatic && is_call);
  }
  /// Returns the host whose connections carry the request: the parent or the upstream.
  const std::shared_ptr<net::Upstream>& carrier() const {
    return is_for_parent() ? upstream->parent : upstream;
  }
};

}  // namespace reprise::forward
