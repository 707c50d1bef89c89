// Rewrites an upstream's redirects and cookies so that a gateway's client stays on the gateway.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Origin of the upstream, and the gateway through which clients reach it. The viewed text must outlive the
/// value.
struct GatewayView {
  std::string_view host;  ///< host of the upstream, without brackets
  std::uint16_t port = 80;
  bool https = false;
  std::string_view path_prefix{};  ///< "" or "/base": prepended to every path
  std::string_view authority{};    ///< authority of the gateway, as its client names it: `127.0.0.1:3180`
};

/// Returns the Location that leads to the same place through the gateway (always http). Returns nothing if
/// the value needs no change: it has another origin, a path outside of `path_prefix`, is a relative reference
/// that already fits, or is not a URL.
std::optional<std::string> location_through(const GatewayView&, std::string_view location);

/// Returns the Set-Cookie without `Domain` and `Secure`, so that the cookie belongs to the gateway's host.
/// Returns nothing if the value has neither attribute. Also returns nothing for names that begin with
/// `__Host-` or `__Secure-`, and for `SameSite=None`: clients demand Secure for them.
std::optional<std::string> cookie_through(std::string_view set_cookie);

/// Returns the new value if `redirects: rewrite` changes that field of a response: Location of a 3xx, or
/// Set-Cookie.
std::optional<std::string> value_through(const GatewayView&, int status, const FieldLine&);

/// Returns true if `host` (a Host field) names the gateway: it has the gateway's port and does not name the
/// upstream. With `host: client`, a client may name the upstream's own virtual host.
bool names_gateway(const GatewayView&, std::string_view host, std::uint16_t gateway_port);

}  // namespace reprise::http
