// How far the other side of a connection has come with what was sent to it.
#pragma once

#include <cstdint>

namespace reprise::net {

struct Outflow {
  /// Bytes that the other host has acknowledged; only ever grows.
  std::uint64_t taken = 0;
  /// Something was sent, or is to be, that it has not.
  bool waits = false;
};

/// Of a socket (TCP_INFO, tcp(7)): one system call. Where the kernel does not tell, nothing waits.
Outflow outflow_of(int descriptor);

}  // namespace reprise::net
