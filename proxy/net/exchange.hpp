// The coroutine that obeys policy::Exchange with sockets: attempts, waits, the kept answer, the delivery.
#pragma once

#include "proxy/net/loop.hpp"
#include "proxy/net/pause.hpp"
#include "proxy/net/request.hpp"
#include "proxy/net/tunnel.hpp"
#include "proxy/net/watch.hpp"
#include "proxy/observe/exchange_record.hpp"

namespace reprise::net {

/// The client's side of one exchange.
struct ClientSide {
  Stream& stream;
  Buffer& buffer;  ///< what was read behind the request
  Pause& pause;
  Watch& watch;
  Tunnel*& tunnel;  ///< set while the connection is one, so that shutdown can drain it
};

/// How an exchange ended for the client.
struct Served {
  observe::Ending ending = observe::Ending::answered;
  int status = 0;
  bool own_answer = false;
  std::uint64_t request_bytes = 0;  ///< through a tunnel; else the request's body knows
  std::uint64_t response_bytes = 0;
  bool keep_alive = false;  ///< another request may follow on the connection
  bool inside = false;      ///< a CONNECT whose tunnel carries plain HTTP: its first bytes are in `early`
};

/// Runs to the end of the answer (of the tunnel, for CONNECT). The ledger is then in `request.ledger`.
Task<Served> exchange(Loop&, Request&, ClientSide);

}  // namespace reprise::net
