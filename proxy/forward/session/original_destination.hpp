// Where a connection was on its way to before a rule of this host redirected it.
#pragma once

#include "proxy/net/io/task.hpp"

namespace reprise::forward {

/// SO_ORIGINAL_DST of IPv4 or IPv6 (REDIRECT, DNAT); the address that the client chose where nothing was
/// redirected, which is the destination itself under TPROXY. An unset endpoint if the connection is gone.
tcp::endpoint original_destination(tcp::socket&);

}  // namespace reprise::forward
