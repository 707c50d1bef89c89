#include "proxy/policy/pacing/idle_life.hpp"

#include <algorithm>

namespace reprise::policy {
namespace {

// The lowest limit on the idle time of a connection. Not zero, because a limit of zero means unknown, and
// doubling zero has no effect.
constexpr Duration least = std::chrono::microseconds(1);

}  // namespace

void IdleLife::ended_after(Duration idle_time, Instant now) {
  const Duration half = std::clamp(idle_time / 2, least, most);
  limit_ = std::min(half, limit(now).value_or(most));
  since_ = now;
}

std::optional<Duration> IdleLife::limit(Instant now) {
  for (; limit_ > Duration::zero() && now - since_ >= growth; since_ += growth) {
    limit_ *= 2;
    if (limit_ > most) limit_ = Duration::zero();
  }
  return known() ? std::optional(limit_) : std::nullopt;
}

}  // namespace reprise::policy
