#include "proxy/net/descriptors.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace reprise::net {
namespace {

constexpr rlim_t per_client = 2;  // its own, and its upstream's
constexpr rlim_t of_ours = 64;    // of a process that may have very few, a quarter

}  // namespace

void raise_descriptor_limit(std::size_t clients) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = rlim_t{clients} * per_client + of_ours;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t clients_allowed() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  const rlim_t left = limit.rlim_cur - std::min(of_ours, limit.rlim_cur / 4);
  return std::max<std::size_t>(1, left / per_client);
}

bool is_out_of_descriptors(int error) { return error == EMFILE || error == ENFILE; }

void ReserveDescriptor::take() {
  if (descriptor_ < 0) descriptor_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void ReserveDescriptor::give_up() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace reprise::net
