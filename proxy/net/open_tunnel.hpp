// From an upstream connection that stands to a client that uses it: the 200 to a CONNECT, the first words,
// and the tunnel's end.
#pragma once

#include "proxy/net/deliver.hpp"

namespace reprise::net {

/// Answers a CONNECT and listens to the first words. A tunnel is carried to its end. Where plain HTTP comes,
/// the connection goes to the pool, what the client has said lies in `request.early`, and `Served::inside`
/// says so: a route with `mode: off` never looks. `request.answer_fields` are our own lines.
Task<Delivered> open_tunnel(Loop&, Request&, ClientSide, Answer&);

/// Carries a connection that has switched protocols (CONNECT, or a 101) to its end.
Task<void> carry_tunnel(Loop&, Request&, ClientSide, Answer&, Served&);

}  // namespace reprise::net
