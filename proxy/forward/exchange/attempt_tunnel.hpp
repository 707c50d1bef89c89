// One try at a CONNECT: the dial, and where the route wants it,
// the first that the upstream says to a ClientHello.
#pragma once

#include "proxy/forward/attempt/attempt.hpp"
#include "proxy/forward/exchange/one_exchange.hpp"

namespace reprise::forward {

/// Ends with the connection. Under `tunnel.replay_client_hello` it goes on: the client gets its 200, and if
/// what it says is one whole ClientHello without early data and nothing else, that is sent, and the attempt
/// ends with the upstream's first byte. An upstream that ends before it fails in stage `tls`: the next
/// attempt dials anew and sends the same bytes.
Task<void> attempt_tunnel(OneAttempt&, OneExchange&, TunnelRequest&, const policy::Start&);

}  // namespace reprise::forward
