// Listener mode `forward`: the client knows that it uses a proxy.
#pragma once

#include "proxy/forward/session/listener_mode.hpp"

namespace reprise::forward {

/// Returns the mode that accepts requests in absolute-form, and CONNECT for byte streams.
const RequestListener& forward_mode();
/// Returns the object that formats the replies to a CONNECT.
const StreamProtocol& connect_protocol();

}  // namespace reprise::forward
