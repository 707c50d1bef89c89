// Serves a client's byte stream on an established upstream connection: replies, detects the protocol, relays.
#pragma once

#include "proxy/forward/exchange/deliver.hpp"

namespace reprise::forward {

/// Replies to the client that its stream is open: 200 to a CONNECT, a SOCKS reply, or nothing for a
/// redirected stream. `own_fields`: header lines of this proxy. Bytes that followed the request move to
/// `tunnel.early`.
Task<ErrorCode> accept_stream(TunnelRequest&, std::string_view own_fields, Duration idle, net::Stream& client,
                              net::Buffer& from_client);

/// Calls `accept_stream`, then detects the protocol unless the route is off; the results are in
/// `tunnel.words` and `tunnel.early`. Returns false if the client is gone.
Task<bool> accept_and_sniff(OneExchange&, TunnelRequest&, Response&);

/// Accepts the stream if that was not done yet, and relays it until it ends. If the stream carries requests
/// that are served one by one, does not relay it: sets `Served::inside`, and pools or closes the upstream
/// connection.
Task<Delivered> open_tunnel(OneExchange&, TunnelRequest&, Response&);

/// Relays a connection whose protocol has changed (CONNECT or 101) to its end. `early`: bytes that the client
/// has already sent.
Task<void> carry_tunnel(OneExchange&, net::Buffer& early, Response&, Served&);

}  // namespace reprise::forward
