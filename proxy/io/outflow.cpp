#include "proxy/io/outflow.hpp"

// The kernel's own header: the C library's has no count of bytes.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace reprise::net {

Outflow outflow_of(int descriptor) {
  tcp_info told{};
  socklen_t size = sizeof told;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &told, &size) != 0) return {};
  // A kernel before 4.6 tells less.
  if (size < offsetof(tcp_info, tcpi_notsent_bytes) + sizeof told.tcpi_notsent_bytes) return {};
  return {told.tcpi_bytes_acked, told.tcpi_unacked > 0 || told.tcpi_notsent_bytes > 0};
}

}  // namespace reprise::net
