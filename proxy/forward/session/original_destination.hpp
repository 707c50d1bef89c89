// Reads the original destination of a connection that a firewall rule of this host has redirected.
#pragma once

#include "proxy/net/io/task.hpp"

namespace reprise::forward {

/// Returns SO_ORIGINAL_DST of IPv4 or IPv6 (REDIRECT, DNAT). If nothing was redirected, returns the address
/// that the client connected to; under TPROXY that is the destination itself. Returns an unset endpoint if
/// the connection is gone.
tcp::endpoint original_destination(tcp::socket&);

}  // namespace reprise::forward
