// Moments of the wall clock on the clock that attempts are timed by.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proxy/net/loop.hpp"

namespace reprise::net {

/// Far ones are brought near enough to count with.
inline Instant instant_of(std::int64_t unix_seconds) {
  constexpr std::int64_t far = std::int64_t{1} << 31;
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t wall = Loop::wall_nanoseconds();
  const std::int64_t left = std::clamp(unix_seconds - wall / second, -far, far);
  return Tick::now() + std::chrono::seconds(left) - std::chrono::nanoseconds(wall % second);
}

}  // namespace reprise::net
