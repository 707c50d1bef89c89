#include "proxy/net/io/link.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace reprise::net {

Unread unread_of(int descriptor) {
  char byte = 0;
  const auto got = ::recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0) return Unread::bytes;
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Unread::nothing : Unread::closed;
}

// Returns whether the other side still sends. Uses poll(2), which reports a FIN even if bytes before the FIN
// are unread.
Presence presence_of(int descriptor) {
  pollfd asked{descriptor, POLLIN | POLLRDHUP, 0};
  if (::poll(&asked, 1, 0) <= 0) return Presence::present;
  if ((asked.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return Presence::reset;
  return (asked.revents & POLLRDHUP) != 0 ? Presence::finished : Presence::present;
}

std::uint64_t Link::unacknowledged() {
  const int socket = descriptor();
  return socket < 0 ? 0 : unacknowledged_of(socket);
}

bool is_dead_peer(int descriptor, Duration since) {
  constexpr unsigned enough = 2;
  // Tolerance for tcpi_last_ack_recv, which the kernel measures in ticks of a few milliseconds.
  constexpr Duration slack = std::chrono::milliseconds(10);
  tcp_info seen{};
  socklen_t size = sizeof seen;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &seen, &size) != 0) return false;
  return seen.tcpi_unacked > 0 && seen.tcpi_retransmits >= enough &&
         std::chrono::milliseconds(seen.tcpi_last_ack_recv) + slack >= since;
}

}  // namespace reprise::net
