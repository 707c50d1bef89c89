// From an upstream connection that stands to a client that uses it: the 200 to a CONNECT, the first words,
// and the tunnel's end.
#pragma once

#include "proxy/exchange/deliver.hpp"

namespace reprise::net {

/// Answers a CONNECT, and listens to the first words unless the route is off: they are then in
/// `request.words` and `request.early`. False if the client is gone.
/// `request.response_fields` are our own lines.
Task<bool> accept_and_listen(Worker&, Request&, ClientSide, Response&);

/// Opens the tunnel if that is still to do. Carries it to its end; where plain HTTP comes, the connection
/// goes to the pool, and `Served::inside` says so.
Task<Delivered> open_tunnel(Worker&, Request&, ClientSide, Response&);

/// Carries a connection that has switched protocols (CONNECT, or a 101) to its end.
Task<void> carry_tunnel(Worker&, Request&, ClientSide, Response&, Served&);

}  // namespace reprise::net
