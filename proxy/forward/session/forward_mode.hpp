// Mode `forward`: the client knows that it speaks to a proxy.
#pragma once

#include "proxy/forward/session/listener_mode.hpp"

namespace reprise::forward {

/// Requests in absolute-form, and CONNECT for byte streams.
const RequestListener& forward_mode();
/// How the client of a CONNECT is spoken to.
const StreamProtocol& connect_protocol();

}  // namespace reprise::forward
