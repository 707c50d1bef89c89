// Serves a client's byte stream on an established upstream connection: replies, detects the protocol, relays.
#pragma once

#include "proxy/forward/exchange/deliver.hpp"

namespace reprise::forward {

/// Reports to the client that its stream is open: by 200 for a CONNECT, by a SOCKS reply, or not at all for a
/// redirected stream. `own_fields`: header lines of this proxy. Bytes that followed the request move to
/// `tunnel.early`.
Task<ErrorCode> accept_stream(TunnelRequest&, std::string_view own_fields, Duration idle, net::Stream& client,
                              net::Buffer& from_client);

/// Calls `accept_stream`, then detects the protocol unless the route's mode is `off`. The results are in
/// `tunnel.detected` and `tunnel.early`. Returns false if the client is gone.
Task<bool> accept_and_sniff(OneExchange&, TunnelRequest&, Response&);

/// Accepts the stream if it is not accepted yet, and relays it until it ends. A stream whose requests are
/// served one by one is not relayed: `Served::inside` is set, and the upstream connection is pooled or
/// closed.
Task<Delivered> open_tunnel(OneExchange&, TunnelRequest&, Response&);

/// Relays a connection whose protocol has changed (CONNECT or 101) to its end. `early`: bytes that the client
/// has already sent.
Task<void> carry_tunnel(OneExchange&, net::Buffer& early, Response&, Served&);

}  // namespace reprise::forward
