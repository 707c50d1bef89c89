// What a gateway's client sees of its upstream's redirects and cookies: they must lead back to the gateway.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Names the upstream's origin, and the gateway through which clients reach it. The viewed text must outlive
/// the value.
struct GatewayView {
  std::string_view host;  ///< of the upstream, without brackets
  std::uint16_t port = 80;
  bool https = false;
  std::string_view path_prefix{};  ///< "" or "/base": goes before every path
  std::string_view authority{};    ///< of the gateway, as its client names it: `127.0.0.1:3180`
};

/// The Location that leads to the same place through the gateway (always http). Nothing if the value stays:
/// another origin, a path outside of `path_prefix`, a relative reference that needs no change, not a URL.
std::optional<std::string> location_through(const GatewayView&, std::string_view location);

/// The Set-Cookie without `Domain` and `Secure`: it is for the host that sent it then, which is the gateway.
/// Nothing if the value stays: neither attribute, a name that begins with `__Host-` or `__Secure-`, or
/// `SameSite=None`, for all of which clients demand Secure.
std::optional<std::string> cookie_through(std::string_view set_cookie);

/// The new value of a response's field, if `redirects: rewrite` changes that field: Location of a 3xx, or
/// Set-Cookie.
std::optional<std::string> value_through(const GatewayView&, int status, const FieldLine&);

/// True if `host` (a Host field) names the gateway itself: its port is the gateway's, and the upstream is not
/// meant. `host: client` lets a client name the upstream's own virtual host.
bool names_gateway(const GatewayView&, std::string_view host, std::uint16_t gateway_port);

}  // namespace reprise::http
