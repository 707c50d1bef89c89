#include "tests/support/refusing_port.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/support/loopback_address.hpp"

namespace reprise::play {
namespace {

// Sets SO_REUSEPORT, so that a listener can share the port with the socket that reserves it.
int bound_to(std::uint16_t port, int kind) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | kind, 0);
  const int on = 1;
  static_cast<void>(::setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on));
  const sockaddr address = loopback_address(port);
  if (::bind(descriptor, &address, sizeof address) != 0) throw std::runtime_error("no port on loopback");
  return descriptor;
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
