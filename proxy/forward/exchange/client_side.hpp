// The client, as one exchange sees it.
#pragma once

#include "proxy/cancellation/client_watch.hpp"
#include "proxy/cancellation/guarded_pointer.hpp"
#include "proxy/io/block.hpp"
#include "proxy/io/pause.hpp"
#include "proxy/tunnel/tunnel.hpp"
#include "proxy/upstream/pool.hpp"

namespace reprise::net {

/// A tunnel under way, and where it leads: what shutdown, a reload and `close_for_room` need to end it.
struct OpenTunnel {
  Tunnel& tunnel;
  const Upstream& upstream;
  policy::UpstreamAddress address;
};

/// The client's side of one exchange.
struct ClientSide {
  Stream& stream;
  Buffer& buffer;  ///< what was read behind the request
  Pause& pause;
  ClientWatch& watch;
  GuardedPointer<OpenTunnel>& tunnel;  ///< set while the connection is one
};

}  // namespace reprise::net
