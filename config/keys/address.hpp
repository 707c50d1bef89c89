// Parses addresses and ports: endpoints, networks, port ranges, the upstream of a gateway.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "config/keys/scalar.hpp"
#include "config/settings.hpp"

namespace reprise::config {

/// The URL schemes.
inline constexpr std::string_view http_scheme = "http://";
inline constexpr std::string_view https_scheme = "https://";

/// Parses `127.0.0.1:3128` or `[::1]:3128`. Accepts only numeric addresses, because no name is resolved at
/// startup.
Parsed<Endpoint> parse_endpoint(std::string_view);
/// Parses `10.0.0.0/8`, `fe80::/10` or a bare address, to which /32 or /128 is added. All bits after the
/// prefix must be zero.
Parsed<std::string> parse_network(std::string_view);
/// Parses `443` or `1024-65535`. The lowest port is 1; both ends are included.
Parsed<std::pair<std::uint16_t, std::uint16_t>> parse_ports(std::string_view);
/// Parses a host name or a literal address. Returns it in lower case, without brackets and trailing dot.
Parsed<std::string> parse_host(std::string_view);
/// Parses `host`, `host:port` or `[v6]:port`, with a name or a literal address. The port is 0 if the text has
/// no port. Rejects a text without a host, with `form` as the reason.
Parsed<Endpoint> parse_authority(std::string_view, const std::string& form);
/// Parses `http[s]://host[:port][/prefix]`.
Parsed<GatewayUpstream> parse_upstream(std::string_view);

bool is_loopback(const Endpoint&);
/// Returns true if the two endpoints cannot be bound at once: they have the same non-zero port, and the same
/// address or the wildcard of the same family.
bool collide(const Endpoint&, const Endpoint&);
/// Returns true if a connection from this host to `target` arrives at the endpoint `bound`. `localhost` is
/// the only name whose addresses are known. If `bound` is a wildcard, only loopback addresses are known to be
/// of this host.
bool leads_to(const Endpoint& target, const Endpoint& bound);

std::string endpoint_text(const Endpoint&);
std::string ports_text(const std::pair<std::uint16_t, std::uint16_t>&);
std::string upstream_text(const GatewayUpstream&);

}  // namespace reprise::config
