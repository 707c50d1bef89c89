// A loopback port that accepts connections in the kernel, and never reads or sends a byte.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "tests/support/loopback_address.hpp"

namespace reprise::play {

/// The kernel accepts up to 64 connections, and takes as many of their bytes as its buffers hold.
class SilentPort {
 public:
  /// Throws std::runtime_error if there is no free port.
  SilentPort() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr address = loopback_address(0);
    const bool listens = ::bind(listener_, &address, sizeof address) == 0 && ::listen(listener_, 64) == 0;
    if (!listens) throw std::runtime_error("no silent port");
    number_ = port_of(listener_);
  }
  ~SilentPort() { ::close(listener_); }
  SilentPort(const SilentPort&) = delete;
  SilentPort& operator=(const SilentPort&) = delete;

  std::uint16_t number() const { return number_; }
  std::string authority() const { return "127.0.0.1:" + std::to_string(number_); }

 private:
  int listener_;
  std::uint16_t number_ = 0;
};

}  // namespace reprise::play
