// From an upstream connection that stands to a client that uses it:
// that it is told, the first words, and the tunnel's end.
#pragma once

#include "proxy/forward/exchange/deliver.hpp"

namespace reprise::forward {

/// Tells the client that its stream is open: 200 to a CONNECT, a reply of SOCKS, or nothing at all.
/// `own_fields` are header lines of ours. What it sent behind its request moves to `tunnel.early`.
Task<ErrorCode> accept_stream(TunnelRequest&, std::string_view own_fields, Duration idle, net::Stream& client,
                              net::Buffer& from_client);

/// The same, and listens to the first words unless the route is off: they are then in `tunnel.words` and
/// `tunnel.early`. False if the client is gone.
Task<bool> accept_and_listen(OneExchange&, TunnelRequest&, Response&);

/// Opens the tunnel if that is still to do. Carries it to its end; where requests come that are served one by
/// one, the connection goes to the pool, or is closed, and `Served::inside` says so.
Task<Delivered> open_tunnel(OneExchange&, TunnelRequest&, Response&);

/// Carries a connection that has switched protocols (CONNECT, or a 101) to its end. `early`: what its client
/// has sent already.
Task<void> carry_tunnel(OneExchange&, net::Buffer& early, Response&, Served&);

}  // namespace reprise::forward
