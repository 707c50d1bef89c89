// Recent times to the response head on one route; a hedge that waits for the p95 uses them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// The last 200 first attempts that got a good response, measured from their start to the response head. For
/// use on one thread.
class ObservedLatency {
 public:
  /// With fewer samples there is no basis to call a request slow.
  static constexpr std::size_t fewest_samples = 20;

  void add(Duration);
  /// Returns the 95th percentile (nearest rank), or nothing before `fewest` samples.
  std::optional<Duration> p95() const;

 private:
  static constexpr std::size_t most = 200;

  std::array<Duration, most> seen_{};
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace reprise::policy
