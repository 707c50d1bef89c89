// The address 127.0.0.1 and a port, in the form of the socket calls.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace reprise::play {

/// Makes an address for bind(2) and connect(2). Port 0 means any free port.
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

/// Returns the port to which a socket is bound. Throws std::runtime_error if it is not bound.
inline std::uint16_t port_of(int descriptor) {
  sockaddr generic{};
  socklen_t bytes = sizeof generic;
  if (::getsockname(descriptor, &generic, &bytes) != 0) throw std::runtime_error("a socket without a port");
  sockaddr_in address{};
  std::memcpy(&address, &generic, sizeof address);
  return ntohs(address.sin_port);
}

}  // namespace reprise::play
