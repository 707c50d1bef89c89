// Points and spans of time as the policy sees them: always arguments, never read from a clock here.
#pragma once

#include <chrono>

namespace reprise::policy {

/// A point on the caller's steady clock. Tests and the simulator pass invented ones.
using Instant = std::chrono::steady_clock::time_point;
/// A span of time; what configuration calls a duration.
using Duration = std::chrono::nanoseconds;

/// Stands for the absence of a limit; never added to a point in time.
inline constexpr Duration no_limit = Duration::max();
/// When something without a limit ends.
inline constexpr Instant no_end = Instant::max();

/// The end of that span; `no_end` for `no_limit`.
constexpr Instant end_of(Instant begin, Duration span) { return span == no_limit ? no_end : begin + span; }

}  // namespace reprise::policy
