// Listening sockets that a service manager opened before it started this process (sd_listen_fds(3)). A client
// that connects before this process accepts connections waits in the queue of such a socket.
#pragma once

#include <string>
#include <vector>

#include "proxy/net/io/task.hpp"
#include "proxy/net/systemd/environment.hpp"

namespace reprise::net {

/// A listening TCP socket. The caller owns the descriptor.
struct InheritedSocket {
  tcp::endpoint bound;
  int descriptor = -1;
};

struct InheritedSockets {
  std::vector<InheritedSocket> sockets;
  std::vector<std::string> faults;  ///< sentences about passed descriptors that cannot be used
};

/// If LISTEN_PID is `pid`, returns the sockets that LISTEN_FDS counts, from descriptor `first` on; else no
/// sockets. Sets close-on-exec, so that no child inherits the sockets. A descriptor that is not a listening
/// TCP socket is closed and reported in `faults`.
InheritedSockets inherited_sockets(const Environment&, std::uint64_t pid, int first = 3);

}  // namespace reprise::net
