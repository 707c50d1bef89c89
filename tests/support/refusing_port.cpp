#include "tests/support/refusing_port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace reprise::play {
namespace {

// SO_REUSEPORT on both sockets lets a listener stand beside the holder.
int bound_to(std::uint16_t port, int kind) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | kind, 0);
  const int on = 1;
  static_cast<void>(::setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr generic{};
  std::memcpy(&generic, &address, sizeof address);
  if (::bind(descriptor, &generic, sizeof address) != 0) throw std::runtime_error("no port on loopback");
  return descriptor;
}

std::uint16_t port_of(int descriptor) {
  sockaddr generic{};
  socklen_t bytes = sizeof generic;
  if (::getsockname(descriptor, &generic, &bytes) != 0) throw std::runtime_error("a port without a number");
  sockaddr_in address{};
  std::memcpy(&address, &generic, sizeof address);
  return ntohs(address.sin_port);
}

}  // namespace

RefusingPort::RefusingPort() : holder_(bound_to(0, 0)), number_(port_of(holder_)) {}

RefusingPort::~RefusingPort() { ::close(holder_); }

int RefusingPort::listen() const {
  const int descriptor = bound_to(number_, SOCK_NONBLOCK);
  if (::listen(descriptor, SOMAXCONN) != 0) throw std::runtime_error("nobody may listen on loopback");
  return descriptor;
}

}  // namespace reprise::play
