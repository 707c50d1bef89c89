// The client, as one exchange sees it.
#pragma once

#include "proxy/forward/tunnel/tunnel.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/io/client_watch.hpp"
#include "proxy/net/io/guarded_pointer.hpp"
#include "proxy/net/io/pause.hpp"
#include "proxy/net/upstream/pool.hpp"

namespace reprise::forward {

/// A tunnel under way, and where it leads: what shutdown, a reload and `close_for_room` need to end it.
struct OpenTunnel {
  Tunnel& tunnel;
  const net::Upstream& upstream;
  policy::UpstreamAddress address;
};

/// The client's side of one exchange.
struct ClientSide {
  net::Stream& stream;
  net::Buffer& buffer;  ///< what was read behind the request
  net::Pause& pause;
  net::ClientWatch& watch;
  net::GuardedPointer<OpenTunnel>& tunnel;  ///< set while the connection is one
};

}  // namespace reprise::forward
