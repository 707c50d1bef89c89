// Addresses and ports in a configuration: endpoints, networks, port ranges, the upstream of a gateway.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "config/keys/scalar.hpp"
#include "config/settings.hpp"

namespace reprise::config {

/// What an address of each kind begins with.
inline constexpr std::string_view http_scheme = "http://";
inline constexpr std::string_view https_scheme = "https://";

/// `127.0.0.1:3128` or `[::1]:3128`. Numeric addresses only: a name is not looked up when the proxy starts.
Parsed<Endpoint> parse_endpoint(std::string_view);
/// `10.0.0.0/8`, `fe80::/10` or a bare address, which gets /32 or /128. No bit may be set beyond the prefix.
Parsed<std::string> parse_network(std::string_view);
/// `443` or `1024-65535`, from 1; inclusive.
Parsed<std::pair<std::uint16_t, std::uint16_t>> parse_ports(std::string_view);
/// A host name or a literal address, lower case, without brackets and trailing dot.
Parsed<std::string> parse_host(std::string_view);
/// `host`, `host:port`, `[v6]:port`: a name or a literal address; port 0 where none is written.
/// What has no host is refused with `form`.
Parsed<Endpoint> parse_authority(std::string_view, const std::string& form);
/// `http://host[:port][/prefix]`, or with `https`.
Parsed<GatewayUpstream> parse_upstream(std::string_view);

bool is_loopback(const Endpoint&);
/// True if both cannot be bound at once: same non-zero port, and the same address or one of them is the
/// wildcard of the same family.
bool collide(const Endpoint&, const Endpoint&);

std::string endpoint_text(const Endpoint&);
std::string ports_text(const std::pair<std::uint16_t, std::uint16_t>&);
std::string upstream_text(const GatewayUpstream&);

}  // namespace reprise::config
