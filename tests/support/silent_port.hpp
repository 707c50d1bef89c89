// A port of loopback where connections stand, and nobody ever reads or says a word.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace reprise::play {

/// The kernel accepts up to 64 connections, and takes what its buffers hold of what they send.
class SilentPort {
 public:
  /// Throws std::runtime_error where there is none.
  SilentPort() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr generic{};
    std::memcpy(&generic, &place, sizeof place);
    socklen_t size = sizeof generic;
    const bool listens = ::bind(listener_, &generic, size) == 0 && ::listen(listener_, 64) == 0 &&
                         ::getsockname(listener_, &generic, &size) == 0;
    if (!listens) throw std::runtime_error("no silent port");
    std::memcpy(&place, &generic, sizeof place);
    number_ = ntohs(place.sin_port);
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
