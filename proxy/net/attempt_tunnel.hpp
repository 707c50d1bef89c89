// One try at a CONNECT: the dial, and where the route wants it, the upstream's first answer to a ClientHello.
#pragma once

#include "proxy/net/attempt.hpp"
#include "proxy/net/exchange.hpp"

namespace reprise::net {

/// Ends with the connection. Under `tunnel.replay_client_hello` it goes on: the client gets its 200, and if
/// what it says is one whole ClientHello without early data and nothing else, that is sent, and the attempt
/// ends with the upstream's first byte. An upstream that ends before it fails in stage `tls`: the next
/// attempt dials anew and sends the same bytes.
/// `deadline` bounds the way to the connection.
Task<AttemptResult> attempt_tunnel(Loop&, Request&, ClientSide, Stop&, const policy::Start&,
                                   std::optional<Instant> deadline, Answer& answer);

/// An attempt at any request: this one for CONNECT, else `attempt`.
Task<AttemptResult> try_once(Loop&, Request&, ClientSide, Stop&, const policy::Start&,
                             std::optional<Instant> deadline, Answer& answer);

}  // namespace reprise::net
