// Makes one attempt at a CONNECT: dials and, if the route requires it, waits for the response to a
// ClientHello.
#pragma once

#include "proxy/forward/attempt/attempt.hpp"
#include "proxy/forward/exchange/one_exchange.hpp"

namespace reprise::forward {

/// Makes one attempt, which normally ends when the connection is established. Under
/// `tunnel.replay_client_hello`, the client gets its 200 at that point. If the client then sends exactly one
/// ClientHello without early data, the ClientHello is passed on, and the attempt ends with the upstream's
/// first byte. If the upstream closes the connection before it sends a byte, the attempt fails in stage
/// `tls`; the next attempt dials again and sends the same ClientHello.
Task<void> attempt_tunnel(OneAttempt&, OneExchange&, TunnelRequest&, const policy::Start&);

}  // namespace reprise::forward
