#include "tests/support/black_hole.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace reprise::play {
namespace {

constexpr int fillers = 8;

}  // namespace

BlackHole::BlackHole(const std::string& address, std::uint16_t port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  ::inet_pton(AF_INET, address.c_str(), &place.sin_addr);
  sockaddr generic{};
  std::memcpy(&generic, &place, sizeof place);
  const int on = 1;
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockets_.push_back(listener);
  static_cast<void>(::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
  if (::bind(listener, &generic, sizeof place) != 0 || ::listen(listener, 0) != 0)
    throw std::runtime_error("no black hole at " + address);
  // The first connection fills the queue. The kernel does not even reply to later connections.
  for (int i = 0; i < fillers; ++i) {
    sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    static_cast<void>(::connect(sockets_.back(), &generic, sizeof place));
  }
}

BlackHole::~BlackHole() {
  for (const int socket : sockets_) ::close(socket);
}

}  // namespace reprise::play
