#include "proxy/net/systemd/notify_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace reprise::net {

NotifySocket::NotifySocket(std::string address) : address_(std::move(address)) {
  const bool is_one = address_.size() > 1 && (address_.front() == '/' || address_.front() == '@');
  if (!is_one || address_.size() > sizeof(sockaddr_un::sun_path)) address_.clear();
}

bool NotifySocket::send(std::string_view state) const {
  if (address_.empty()) return false;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address_.data(), address_.size());
  // Abstract namespace: the name follows a zero byte, and the length of the address determines the length of
  // the name.
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return false;
  const ssize_t sent =
      ::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL,
               // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the socket API requires it.
               reinterpret_cast<const sockaddr*>(&to), length);
  ::close(descriptor);
  return sent == static_cast<ssize_t>(state.size());
}

std::optional<Duration> watchdog_interval(const Environment& environment, std::uint64_t pid) {
  const auto microseconds = number_in(environment, "WATCHDOG_USEC");
  if (!microseconds || *microseconds == 0) return std::nullopt;
  if (environment("WATCHDOG_PID") && number_in(environment, "WATCHDOG_PID") != pid) return std::nullopt;
  constexpr std::uint64_t longest = 24ULL * 3600 * 1'000'000;
  return std::chrono::microseconds(std::min(*microseconds, longest)) / 3;
}

}  // namespace reprise::net
