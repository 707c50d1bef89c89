// Listener mode `transparent`: a firewall rule of this host redirects connections here, unnoticed by the
// client.
#pragma once

#include "proxy/forward/session/listener_mode.hpp"

namespace reprise::forward {

/// Returns the mode that opens streams to the address that the client connected to.
const StreamListener& transparent_mode();

}  // namespace reprise::forward
