// The client's side of one exchange.
#pragma once

#include "proxy/forward/tunnel/tunnel.hpp"
#include "proxy/net/ends/body_reader.hpp"
#include "proxy/net/ends/client_end.hpp"
#include "proxy/net/ends/client_watch.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/io/guarded_pointer.hpp"
#include "proxy/net/io/pause.hpp"
#include "proxy/net/upstream/pool.hpp"

namespace reprise::forward {

/// An open tunnel and its upstream address. Shutdown, reload and `close_for_room` may end the tunnel through
/// this object.
struct OpenTunnel {
  Tunnel& tunnel;
  const net::Upstream& upstream;
  policy::UpstreamAddress address;
};

/// The client's connection as a byte stream, for tunnels and for changes of the protocol.
struct ClientBytes {
  net::Stream& stream;
  net::Buffer& buffer;                      ///< bytes that followed the request
  net::BodyReader& body;                    ///< reads the request's body
  net::GuardedPointer<OpenTunnel>& tunnel;  ///< set while the connection is a tunnel
};

/// References to the objects of the client that one exchange uses.
struct ClientSide {
  net::ClientEnd& end;  ///< takes the response
  net::Pause& pause;
  net::ClientWatch& watch;
  /// Null over HTTP/2. Not null for a TunnelRequest, or if the request offers an upgrade.
  const ClientBytes* bytes = nullptr;
};

}  // namespace reprise::forward
