// Rewrites an upstream's redirects and cookies so that a gateway's client stays on the gateway.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// The origin of the upstream, and the address of the gateway through which clients reach it. The text that
/// its views refer to must outlive this object.
struct GatewayView {
  std::string_view host;  ///< host of the upstream, without brackets
  std::uint16_t port = 80;
  bool https = false;
  std::string_view path_prefix{};  ///< "" or "/base": prefix of every path on the upstream
  std::string_view authority{};    ///< authority of the gateway, as its client names it: `127.0.0.1:3180`
};

/// Returns the Location that leads to the same resource through the gateway (always http). The gateway cannot
/// reach a path outside of `path_prefix`: without an origin, such a path gets the upstream's own. Returns
/// nothing if the value needs no change: it names another origin or such a path there, it is a relative
/// reference that already fits, or it is not a URL.
std::optional<std::string> location_through(const GatewayView&, std::string_view location);

/// Returns the Set-Cookie value without `Domain` and `Secure`, so that the cookie belongs to the gateway's
/// host, and with the `Path` that selects the same requests through the gateway. Returns nothing if no
/// attribute changes. Also returns nothing if the name begins with `__Host-` or `__Secure-`, or for
/// `SameSite=None`, because clients require Secure for these.
std::optional<std::string> cookie_through(const GatewayView&, std::string_view set_cookie);

/// Returns the new value of a response field if `redirects: rewrite` changes it: Location of a 3xx, or
/// Set-Cookie. Otherwise returns nothing.
std::optional<std::string> value_through(const GatewayView&, int status, const FieldLine&);

/// Returns true if `host` (the value of a Host field) names the gateway: its port is the gateway's, and its
/// name is not the upstream's. With `host: client`, a client may name the upstream's own virtual host.
bool names_gateway(const GatewayView&, std::string_view host, std::uint16_t gateway_port);

}  // namespace reprise::http
