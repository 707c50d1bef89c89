// An address of loopback where a connection neither stands nor fails: its listener's queue is full.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::play {

/// Whoever dials it waits until it goes. Throws std::runtime_error where the address cannot be had.
class BlackHole {
 public:
  /// `address`: of 127.0.0.0/8.
  BlackHole(const std::string& address, std::uint16_t port);
  ~BlackHole();
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;

 private:
  std::vector<int> sockets_;  ///< the listener, and those that fill its queue
};

}  // namespace reprise::play
