#include "proxy/policy/pacing/host_pause.hpp"

#include <algorithm>

namespace reprise::policy {

void HostPause::ask(Instant until) {
  const std::scoped_lock lock(mutex_);
  until_ = until_ ? std::max(*until_, until) : until;
}

std::optional<Instant> HostPause::until(Instant now) const {
  const std::scoped_lock lock(mutex_);
  return until_ && now < *until_ ? until_ : std::nullopt;
}

std::optional<Instant> HostPause::end() const {
  const std::scoped_lock lock(mutex_);
  return until_;
}

}  // namespace reprise::policy
