#include "proxy/net/io/outflow.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>

namespace reprise::net {

std::uint64_t unacknowledged_of(int descriptor) {
  int bytes = 0;
  if (::ioctl(descriptor, SIOCOUTQ, &bytes) != 0 || bytes < 0) return 0;
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace reprise::net
