// A client connection that has been idle for a while and keeps only its socket and a few hundred bytes.
#pragma once

#include "proxy/forward/session/session.hpp"

namespace reprise::forward {

/// Keeps the idle connection until a byte arrives, and then serves it. Closes the connection if the client
/// leaves, after timers.keep_alive, to make room, and on shutdown. Precondition: the connection is a plain
/// socket.
void rest(Worker& worker, ClientConnection connection);

}  // namespace reprise::forward
