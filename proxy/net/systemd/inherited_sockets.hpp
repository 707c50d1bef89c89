// Listening sockets that a service manager has opened before it started us (sd_listen_fds(3)): clients that
// come while nobody runs wait in them.
#pragma once

#include <string>
#include <vector>

#include "proxy/net/io/task.hpp"
#include "proxy/net/systemd/environment.hpp"

namespace reprise::net {

/// A TCP socket that listens. The descriptor is whoever's takes it.
struct InheritedSocket {
  tcp::endpoint bound;
  int descriptor = -1;
};

struct InheritedSockets {
  std::vector<InheritedSocket> sockets;
  std::vector<std::string> faults;  ///< what was passed and cannot be listened on: sentences
};

/// Those that LISTEN_FDS counts, from descriptor `first` on, if LISTEN_PID is `pid`; else none. From then on
/// no child inherits them. What is no listening TCP socket is closed and told.
InheritedSockets inherited_sockets(const Environment&, std::uint64_t pid, int first = 3);

}  // namespace reprise::net
