#include "proxy/net/io/descriptors.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace reprise::net {
namespace {

constexpr rlim_t per_client = 2;  // the client's own descriptor and its upstream's
constexpr rlim_t of_ours = 64;    // descriptors for the proxy itself, besides those of the admin listener

// Returns how many descriptors are not for clients: at most a quarter of the process's limit.
rlim_t beside_clients(rlim_t limit, std::size_t admin) { return std::min(of_ours + admin, limit / 4); }

}  // namespace

void raise_descriptor_limit(std::size_t clients, std::size_t admin) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = rlim_t{clients} * per_client + of_ours + admin;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t clients_allowed(std::size_t admin) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  const rlim_t left = limit.rlim_cur - beside_clients(limit.rlim_cur, admin);
  return std::max<std::size_t>(1, left / per_client);
}

std::size_t admin_allowed(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  const rlim_t most = beside_clients(limit.rlim_cur, wanted) / 2;
  return std::clamp<std::size_t>(wanted, 1, std::max<rlim_t>(1, most));
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
