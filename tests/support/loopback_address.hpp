// The address 127.0.0.1 with a port, as the kernel takes and gives it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace reprise::play {

/// For bind(2) and connect(2); port 0 is any free one.
inline sockaddr loopback_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr generic{};
  static_assert(sizeof generic == sizeof address);
  std::memcpy(&generic, &address, sizeof address);
  return generic;
}

/// The port that a socket is bound to. Throws std::runtime_error where it is bound to none.
inline std::uint16_t port_of(int descriptor) {
  sockaddr generic{};
  socklen_t bytes = sizeof generic;
  if (::getsockname(descriptor, &generic, &bytes) != 0) throw std::runtime_error("a socket without a port");
  sockaddr_in address{};
  std::memcpy(&address, &generic, sizeof address);
  return ntohs(address.sin_port);
}

}  // namespace reprise::play
