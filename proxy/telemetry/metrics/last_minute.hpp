// The counts of a route or an upstream for each of the last 60 seconds, computed from totals that only grow.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

namespace reprise::telemetry {

/// Counts of one route, over any span of time. Differences are modulo 2^32, so totals may wrap.
struct RouteNumbers {
  static constexpr std::size_t most_buckets = 16;

  std::uint32_t requests = 0;
  std::uint32_t failed = 0;  ///< requests that got a 5xx, a cut response or a failed gRPC status (`grpc`)
  std::uint32_t client_gone = 0;
  std::uint32_t retries = 0;
  std::uint32_t recovered = 0;
  std::uint32_t refused = 0;  ///< requests that ended because a retry was refused
  std::array<std::uint32_t, most_buckets> durations{};

  bool operator==(const RouteNumbers&) const = default;
};
/// Counts of the attempts at one upstream, over any span of time.
struct AttemptNumbers {
  std::uint32_t attempts = 0;
  std::uint32_t failed = 0;  ///< attempts that got a 5xx, a failed gRPC status or no response

  bool operator==(const AttemptNumbers&) const = default;
};

RouteNumbers operator+(const RouteNumbers&, const RouteNumbers&);
RouteNumbers operator-(const RouteNumbers&, const RouteNumbers&);
AttemptNumbers operator+(AttemptNumbers, const AttemptNumbers&);
AttemptNumbers operator-(AttemptNumbers, const AttemptNumbers&);

/// Counts of one second, on a clock that never goes back.
template <typename Numbers>
struct CountedSecond {
  std::int64_t second = 0;
  Numbers numbers;
};

/// Keeps the counts of at most 60 seconds. A second without counts takes no room. Each request costs one
/// comparison; the first request in each second also costs a read of the totals.
template <typename Numbers>
class LastMinute {
 public:
  static constexpr std::int64_t seconds = 60;

  /// Begins a new second if `second`, in which a request ended, is later than the current second. Call before
  /// this request is counted. `totals` returns the counts so far. Thread-safe: if two threads begin a second,
  /// only one of them reads the totals.
  template <typename Totals>
  void before_count(std::int64_t second, const Totals& totals) {
    if (second > current_.load(std::memory_order_relaxed)) begin(second, totals);
  }
  /// Returns the counts of the 60 seconds up to `now`, the oldest first, without the seconds that have no
  /// counts.
  template <typename Totals>
  std::vector<CountedSecond<Numbers>> list(std::int64_t now, const Totals& totals) const {
    std::vector<CountedSecond<Numbers>> all;
    const auto add = [&](std::int64_t second, const Numbers& numbers) {
      if (second > now - seconds && numbers != Numbers{}) all.push_back({second, numbers});
    };
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const CountedSecond<Numbers>& one = kept_[(oldest_ + i) % kept_.size()];
      add(one.second, one.numbers);
    }
    // Reads the totals with the mutex locked, so that they are not older than `before_`.
    add(current_.load(std::memory_order_relaxed), totals() - before_);
    return all;
  }

 private:
  template <typename Totals>
  void begin(std::int64_t second, const Totals& totals) {
    const std::lock_guard lock(mutex_);
    const std::int64_t ended = current_.load(std::memory_order_relaxed);
    if (second <= ended) return;
    const Numbers now = totals();
    if (now != before_) keep({ended, now - before_});
    before_ = now;
    current_.store(second, std::memory_order_relaxed);
  }
  void keep(const CountedSecond<Numbers>& one) {
    if (kept_.size() < static_cast<std::size_t>(seconds)) {
      kept_.push_back(one);
      return;
    }
    kept_[oldest_] = one;
    oldest_ = (oldest_ + 1) % kept_.size();
  }

  std::atomic<std::int64_t> current_{std::numeric_limits<std::int64_t>::min()};
  mutable std::mutex mutex_;
  Numbers before_;                            ///< totals when the current second began; guarded by mutex_
  std::vector<CountedSecond<Numbers>> kept_;  ///< a ring buffer; guarded by mutex_
  std::size_t oldest_ = 0;  ///< index of the oldest second in `kept_`; used once `kept_` is full
};

}  // namespace reprise::telemetry
