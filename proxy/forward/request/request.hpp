// All data of one request in flight.
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

/// The upstreams' responses, and the response head that the client gets.
struct Responses {
  Response live;           ///< response of the last attempt
  Response copy;           ///< response of the hedged copy of the first attempt
  Response kept;           ///< response that the client gets if no better response follows
  std::string head;        ///< response head for the client
  std::string own_fields;  ///< lines in `head` that this proxy has added
  /// Rewrites redirects and cookies for a gateway's client. Absent if they pass unchanged.
  std::optional<http::GatewayView> gateway;
  std::string gateway_authority;  ///< text that `gateway` refers to; may be unused

  void clear();
};

/// A request with an ordinary response message.
struct Plain {};
/// A request to change the protocol of the client's connection (RFC 9110 7.8).
struct Upgrade {
  net::Buffer early;  ///< bytes that followed the request; set once the protocol has changed
};

/// Borrowed from the worker, which keeps finished requests for reuse to avoid allocations. Not movable,
/// because its parts refer to each other.
struct Request {
  Request() = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  Incoming in;
  Route route;
  Outgoing out{in, route};
  Responses responses;
  std::variant<Plain, Upgrade, TunnelRequest> purpose;
  std::optional<policy::Exchange> machine;  ///< decides about attempts; set from the first attempt on
  std::uint64_t number = 0;                 ///< number in the request history; 0: not recorded

  /// Returns the request for a byte stream; null if the client does not ask for one.
  TunnelRequest* tunnel() { return std::get_if<TunnelRequest>(&purpose); }
  const TunnelRequest* tunnel() const { return std::get_if<TunnelRequest>(&purpose); }
  /// Returns the record of the attempts; empty before the first one.
  const policy::Ledger& ledger() const;
  /// Resets every member, so that no data of this request reaches the next one. Keeps storage.
  void clear();
};

}  // namespace reprise::forward
