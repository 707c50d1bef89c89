// A loopback address where connecting neither succeeds nor fails, because the listener's queue is full.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::play {

/// A connect to the address waits until this object is destroyed. Throws std::runtime_error if the address
/// cannot be bound.
class BlackHole {
 public:
  /// Precondition: `address` is in 127.0.0.0/8.
  BlackHole(const std::string& address, std::uint16_t port);
  ~BlackHole();
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;

 private:
  std::vector<int> sockets_;  ///< the listener, and the clients that fill its queue
};

}  // namespace reprise::play
