// Points in time and durations. The policy gets them as arguments and never reads a clock.
#pragma once

#include <chrono>

namespace reprise::policy {

/// A point on the caller's steady clock. Tests and the simulator pass invented times.
using Instant = std::chrono::steady_clock::time_point;
/// A duration, as in the configuration.
using Duration = std::chrono::nanoseconds;

/// The value that means no limit. Never add it to a point in time.
inline constexpr Duration no_limit = Duration::max();
/// The end of a period that has no limit.
inline constexpr Instant no_end = Instant::max();

/// Returns `begin + span`, or `no_end` if `span` is `no_limit`.
constexpr Instant end_of(Instant begin, Duration span) { return span == no_limit ? no_end : begin + span; }

}  // namespace reprise::policy
