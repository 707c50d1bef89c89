// How long good responses of one route took to begin, lately: what a hedge that waits for the p95 goes by.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// The last 200 first attempts, from their start to the response head. Used on one thread.
class ObservedLatency {
 public:
  /// Fewer are no ground to call a request slow.
  static constexpr std::size_t fewest = 20;

  void add(Duration);
  /// 95 of 100 took no longer (nearest rank); nothing before `fewest` were seen.
  std::optional<Duration> p95() const;

 private:
  static constexpr std::size_t most = 200;

  std::array<Duration, most> seen_{};
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace reprise::policy
