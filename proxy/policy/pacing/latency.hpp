// Recent times to the response head on one route, used by a hedge that starts after the p95.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// The times from start to response head of the last 200 first attempts with a good response.
/// Single-threaded.
class ObservedLatency {
 public:
  /// Minimum number of samples; with fewer, no request can be called slow.
  static constexpr std::size_t fewest_samples = 20;

  void add(Duration);
  /// Returns the 95th percentile (nearest rank), or nothing if there are fewer than `fewest_samples`.
  std::optional<Duration> p95() const;

 private:
  static constexpr std::size_t most = 200;

  std::array<Duration, most> seen_{};
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace reprise::policy
