// Ports and text forms of an origin (RFC 9110 4.2.1, 4.2.2, RFC 3986 3.2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::http {

inline constexpr std::uint16_t http_port = 80;
inline constexpr std::uint16_t https_port = 443;

/// Returns the port to use over TLS for a request that named `port` in clear text: 443 for 80, otherwise the
/// same port.
constexpr std::uint16_t port_over_tls(std::uint16_t port) { return port == http_port ? https_port : port; }

/// Returns true for `localhost` and for texts that look like a loopback address. `host` is without brackets.
constexpr bool is_loopback_host(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// Returns `host:port`, or `[v6]:port` for IPv6. `host` is without brackets.
std::string authority_text(std::string_view host, std::uint16_t port);
/// Returns `host:port`, or only the host if the port equals `standard`. IPv6 addresses get brackets; `host`
/// is without brackets.
std::string authority_text(std::string_view host, std::uint16_t port, std::uint16_t standard);

}  // namespace reprise::http
