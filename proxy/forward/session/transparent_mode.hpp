// Mode `transparent`: a rule of this host has redirected the connection here, and its client does not know.
#pragma once

#include "proxy/forward/session/listener_mode.hpp"

namespace reprise::forward {

/// Streams to the address that the client connected to.
const StreamListener& transparent_mode();

}  // namespace reprise::forward
