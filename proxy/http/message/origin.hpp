// The ports and the text of an origin (RFC 9110 4.2.1, 4.2.2, RFC 3986 3.2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::http {

inline constexpr std::uint16_t http_port = 80;
inline constexpr std::uint16_t https_port = 443;

/// Where a request that was asked for in clear text goes over TLS:
/// its port stays, unless that was the scheme's own.
constexpr std::uint16_t port_over_tls(std::uint16_t port) { return port == http_port ? https_port : port; }

/// True for `localhost` and for what is written like a loopback address; `host` is without brackets.
constexpr bool is_loopback_host(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// `host:port`, `[v6]:port`. `host` is without brackets.
std::string authority_text(std::string_view host, std::uint16_t port);
/// The same, without the port where it is `standard`.
std::string authority_text(std::string_view host, std::uint16_t port, std::uint16_t standard);

}  // namespace reprise::http
