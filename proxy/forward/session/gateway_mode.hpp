// Listener mode `gateway`: the client addresses this proxy as if it were the upstream.
#pragma once

#include "proxy/forward/session/listener_mode.hpp"

namespace reprise::forward {

/// Returns the mode that sends every request to the listener's upstream. Redirects and cookies are rewritten
/// to the listener's address.
const RequestListener& gateway_mode();

}  // namespace reprise::forward
