#include "proxy/forward/session/original_destination.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

namespace reprise::forward {
namespace {

// Defined in linux/netfilter_ipv4.h and linux/netfilter_ipv6/ip6_tables.h, which conflict with other kernel
// headers.
constexpr int so_original_dst = 80;

}  // namespace

tcp::endpoint original_destination(tcp::socket& socket) {
  ErrorCode gone;
  tcp::endpoint chosen = socket.local_endpoint(gone);
  if (gone) return {};
  const bool v4 = chosen.protocol() == tcp::v4() || chosen.address().to_v6().is_v4_mapped();
  const int level = v4 ? SOL_IP : SOL_IPV6;
  tcp::endpoint original(v4 ? tcp::v4() : tcp::v6(), 0);
  // SO_ORIGINAL_DST does not set `size` to the number of bytes written, so the size must be chosen here.
  socklen_t size = v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  original.resize(size);
  if (::getsockopt(socket.native_handle(), level, so_original_dst, original.data(), &size) != 0)
    return chosen;
  return original;
}

}  // namespace reprise::forward
