// Conversions of socket addresses: text, values, IPv4-mapped forms, loopback.
#pragma once

#include <string>

#include "proxy/net/io/task.hpp"
#include "proxy/policy/decision/upstream_address.hpp"

namespace reprise::net {

/// Returns an IPv4-mapped IPv6 address (RFC 4291 2.5.5.2) as its IPv4 address, and any other address
/// unchanged.
asio::ip::address unmapped(const asio::ip::address&);
/// Returns true for loopback addresses, including IPv4-mapped loopback addresses.
bool is_loopback(const asio::ip::address&);
/// Returns the address as text, without brackets. An IPv4-mapped address is written as IPv4.
std::string address_text(const asio::ip::address&);
/// Converts an endpoint to the policy's address type. The result is unknown if the port is 0.
policy::UpstreamAddress as_address(const tcp::endpoint&);
tcp::endpoint as_endpoint(const policy::UpstreamAddress&);
/// Returns text such as `127.0.0.1:3128` or `[::1]:3128`.
std::string endpoint_text(const tcp::endpoint&);

}  // namespace reprise::net
