// A client connection that has been idle for a while and keeps only its socket and a few hundred bytes.
#pragma once

#include "proxy/forward/session/session.hpp"

namespace reprise::forward {

/// Waits until a byte arrives on the idle connection, and then serves the connection. Closes the connection
/// if the client leaves, if `timers.keep_alive` passes, if another client needs room, or on shutdown.
/// Precondition: the connection is a plain socket.
void wait_idle(Worker& worker, ClientConnection connection);

}  // namespace reprise::forward
