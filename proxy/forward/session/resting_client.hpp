// A client between two requests that has been quiet for a while: its socket and a few hundred bytes, no
// coroutine and no block.
#pragma once

#include "proxy/forward/session/session.hpp"

namespace reprise::forward {

/// Keeps the connection, a plain socket, until a byte or its end comes, and serves it then; closes it after
/// timers.keep_alive, when room is short, and on shutdown.
void rest(Worker& worker, ClientConnection connection);

}  // namespace reprise::forward
