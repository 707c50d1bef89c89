// A histogram that is counted without a lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace reprise::telemetry {

/// Bucket bounds in seconds for the durations of requests and attempts.
inline constexpr std::array<double, 15> duration_bounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                        0.5,   1,      2.5,   5,    15,    60,   300};

/// A bucket counts the values at or below its bound (Prometheus `le`).
class Distribution {
 public:
  static constexpr std::size_t most_bounds = 15;

  /// Precondition: `bounds` are ascending, at most `most_bounds`, and outlive the distribution.
  explicit Distribution(std::span<const double> bounds) : bounds_(bounds) {
    assert(bounds.size() <= most_bounds && std::is_sorted(bounds.begin(), bounds.end()));
  }
  /// Adds `value` to the histogram, `times` times.
  void observe(double value, std::uint64_t times = 1);
  std::uint64_t count() const;
  double sum() const { return sum_.load(std::memory_order_relaxed); }
  /// Returns the count of each bucket, not cumulative. The last bucket counts the values above every bound.
  std::vector<std::uint64_t> counts() const;
  std::uint64_t count_at(std::size_t bucket) const { return counts_[bucket].load(std::memory_order_relaxed); }
  std::span<const double> bounds() const { return bounds_; }

 private:
  const std::span<const double> bounds_;
  std::array<std::atomic<std::uint64_t>, most_bounds + 1> counts_{};
  std::atomic<double> sum_{0};
};

}  // namespace reprise::telemetry
