// Everything that belongs to one request while it is in flight, in the parts that its functions take.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "proxy/forward/request/outgoing.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/forward/request/tunnel_request.hpp"
#include "proxy/http/message/gateway_view.hpp"
#include "proxy/policy/decision/exchange.hpp"

namespace reprise::forward {

/// What has come back from upstreams, and what the client gets before a body.
struct Responses {
  Response live;           ///< of the last attempt
  Response copy;           ///< of a second copy beside the first attempt (hedge)
  Response kept;           ///< what the client gets if nothing better follows
  std::string head;        ///< for the client
  std::string own_fields;  ///< our own lines in it
  /// How a gateway's client sees redirects and cookies; absent: as the upstream sent them.
  std::optional<http::GatewayView> gateway;
  std::string gateway_authority;  ///< the text of that view, unless the client's Host names the gateway

  void clear();
};

/// A request whose response is one message.
struct Plain {};
/// The client asks for another protocol on its connection (RFC 9110 7.8).
struct Upgrade {
  net::Buffer early;  ///< what it sent behind its request, once the protocol has changed
};

/// Lent by the worker, so that a connection allocates once. Stays where it is: its parts refer to each other.
struct Request {
  Request() = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  Incoming in;
  Route route;
  Outgoing out{in, route};
  Responses responses;
  std::variant<Plain, Upgrade, TunnelRequest> purpose;
  std::optional<policy::Exchange> machine;  ///< decides on its attempts; from the first one on
  std::uint64_t number = 0;                 ///< that its history is kept under; 0: none is kept

  /// Null for a request that asks for no byte stream.
  TunnelRequest* tunnel() { return std::get_if<TunnelRequest>(&purpose); }
  const TunnelRequest* tunnel() const { return std::get_if<TunnelRequest>(&purpose); }
  /// What was tried; empty where nothing was.
  const policy::Ledger& ledger() const;
  /// Resets every member, so that nothing of this request reaches the next one. Keeps storage.
  void clear();
};

}  // namespace reprise::forward
