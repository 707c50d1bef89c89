#include "proxy/telemetry/metrics/distribution.hpp"

namespace reprise::telemetry {

void Distribution::observe(double value, std::uint64_t times) {
  std::size_t bucket = 0;
  while (bucket < bounds_.size() && value > bounds_[bucket]) ++bucket;
  counts_[bucket].fetch_add(times, std::memory_order_relaxed);
  sum_.fetch_add(value * static_cast<double>(times), std::memory_order_relaxed);
}

std::uint64_t Distribution::count() const {
  std::uint64_t total = 0;
  for (const auto& each : counts_) total += each.load(std::memory_order_relaxed);
  return total;
}

std::vector<std::uint64_t> Distribution::counts() const {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) out.push_back(counts_[i].load(std::memory_order_relaxed));
  return out;
}

}  // namespace reprise::telemetry
