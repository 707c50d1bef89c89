// Listener mode `socks`: the client asks for streams by SOCKS5 (RFC 1928).
#pragma once

#include "proxy/forward/session/listener_mode.hpp"

namespace reprise::forward {

/// Returns the mode that opens streams to the host that the client names, on the ports of
/// security.connect_ports.
const StreamListener& socks_mode();

}  // namespace reprise::forward
