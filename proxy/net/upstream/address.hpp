// Addresses of sockets: as people write them, and whether only this host reaches them.
#pragma once

#include <string>

#include "proxy/net/io/task.hpp"
#include "proxy/policy/decision/upstream_address.hpp"

namespace reprise::net {

/// An IPv4 address that is mapped into IPv6 (RFC 4291 2.5.5.2) as what it is; any other as it is.
asio::ip::address unmapped(const asio::ip::address&);
/// Mapped or not.
bool is_loopback(const asio::ip::address&);
/// Unmapped, without brackets.
std::string address_text(const asio::ip::address&);
/// The same as a value; unknown where the port is 0.
policy::UpstreamAddress as_address(const tcp::endpoint&);
tcp::endpoint as_endpoint(const policy::UpstreamAddress&);
/// `127.0.0.1:3128`, `[::1]:3128`.
std::string endpoint_text(const tcp::endpoint&);

}  // namespace reprise::net
