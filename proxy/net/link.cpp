#include "proxy/net/link.hpp"

#include <poll.h>

namespace reprise::net {

// poll(2) sees a FIN behind unread bytes too.
Presence presence_of(int descriptor) {
  pollfd asked{descriptor, POLLIN | POLLRDHUP, 0};
  if (::poll(&asked, 1, 0) <= 0) return Presence::present;
  if ((asked.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return Presence::reset;
  return (asked.revents & POLLRDHUP) != 0 ? Presence::finished : Presence::present;
}

Outflow Link::outflow() {
  const int socket = descriptor();
  return socket < 0 ? Outflow{} : outflow_of(socket);
}

}  // namespace reprise::net
