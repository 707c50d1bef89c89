// Reads the original destination of a connection that a firewall rule of this host has redirected.
#pragma once

#include "proxy/net/io/task.hpp"

namespace reprise::forward {

/// Returns the value of SO_ORIGINAL_DST for IPv4 or IPv6 (REDIRECT, DNAT). If the connection was not
/// redirected, returns the address that the client connected to; under TPROXY this is the original
/// destination. Returns an unset endpoint if the connection is gone.
tcp::endpoint original_destination(tcp::socket&);

}  // namespace reprise::forward
