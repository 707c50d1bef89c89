#include "proxy/policy/pacing/slot_ring.hpp"

#include <algorithm>
#include <cassert>

namespace reprise::policy {

SlotTimes::SlotTimes(Duration window) : width_(std::max<Duration::rep>(1, window.count() / tenths)) {
  assert(window > Duration::zero());
}

std::int64_t SlotTimes::number(Instant at) const {
  return std::chrono::duration_cast<Duration>(at.time_since_epoch()).count() / width_;
}

std::int64_t SlotTimes::advance(Instant now) {
  const std::int64_t before = newest_;
  newest_ = std::max(number(now), newest_);
  return std::min(newest_ - before, slots);
}

std::int64_t SlotTimes::age(Instant at) const { return newest_ - std::min(number(at), newest_); }

std::size_t SlotTimes::index(std::int64_t age) const {
  return static_cast<std::size_t>((newest_ + slots - age) % slots);
}

}  // namespace reprise::policy
