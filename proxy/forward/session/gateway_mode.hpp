// Mode `gateway`: the client takes us for the upstream.
#pragma once

#include "proxy/forward/session/listener_mode.hpp"

namespace reprise::forward {

/// Everything goes to the listener's upstream; redirects and cookies lead back to the listener.
const RequestListener& gateway_mode();

}  // namespace reprise::forward
