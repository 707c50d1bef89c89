// The client, as one exchange sees it.
#pragma once

#include "proxy/cancellation/client_watch.hpp"
#include "proxy/cancellation/guarded_pointer.hpp"
#include "proxy/io/block.hpp"
#include "proxy/io/pause.hpp"
#include "proxy/tunnel/tunnel.hpp"

namespace reprise::net {

/// The client's side of one exchange.
struct ClientSide {
  Stream& stream;
  Buffer& buffer;  ///< what was read behind the request
  Pause& pause;
  ClientWatch& watch;
  GuardedPointer<Tunnel>& tunnel;  ///< set while the connection is one, so that shutdown can drain it
};

}  // namespace reprise::net
