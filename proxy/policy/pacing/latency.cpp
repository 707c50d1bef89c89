#include "proxy/policy/pacing/latency.hpp"

#include <algorithm>

namespace reprise::policy {

void ObservedLatency::add(Duration took) {
  seen_[next_] = took;
  next_ = (next_ + 1) % most;
  count_ = std::min(count_ + 1, most);
}

std::optional<Duration> ObservedLatency::p95() const {
  if (count_ < fewest_samples) return std::nullopt;
  std::array<Duration, most> sorted = seen_;
  const std::size_t rank = (count_ * 95 + 99) / 100 - 1;
  const auto place = sorted.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(sorted.begin(), place, sorted.begin() + static_cast<std::ptrdiff_t>(count_));
  return *place;
}

}  // namespace reprise::policy
