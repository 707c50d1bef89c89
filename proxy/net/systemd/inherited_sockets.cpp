#include "proxy/net/systemd/inherited_sockets.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

namespace reprise::net {
namespace {

bool has(int descriptor, int option, int wanted) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 && value == wanted;
}

std::optional<tcp::endpoint> listening_endpoint(int descriptor) {
  tcp::endpoint bound;
  auto size = static_cast<socklen_t>(bound.capacity());
  if (!has(descriptor, SO_TYPE, SOCK_STREAM) || !has(descriptor, SO_ACCEPTCONN, 1)) return std::nullopt;
  if (::getsockname(descriptor, bound.data(), &size) != 0) return std::nullopt;
  const int family = bound.data()->sa_family;
  if (family != AF_INET && family != AF_INET6) return std::nullopt;
  bound.resize(size);
  return bound;
}

}  // namespace

InheritedSockets inherited_sockets(const Environment& environment, std::uint64_t pid, int first) {
  InheritedSockets found;
  constexpr std::uint64_t most = 1000;  // limit for LISTEN_FDS; no configuration has that many listeners
  const auto count = number_in(environment, "LISTEN_FDS");
  if (number_in(environment, "LISTEN_PID") != pid || !count || *count > most) return found;
  for (int descriptor = first; descriptor < first + static_cast<int>(*count); ++descriptor) {
    const auto bound = listening_endpoint(descriptor);
    if (bound) {
      ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
      found.sockets.push_back({*bound, descriptor});
    } else {
      found.faults.push_back("descriptor " + std::to_string(descriptor) +
                             ", passed by the service manager, is not a listening TCP socket and was closed: "
                             "write ListenStream=ADDRESS:PORT into its .socket unit");
      ::close(descriptor);
    }
  }
  return found;
}

}  // namespace reprise::net
