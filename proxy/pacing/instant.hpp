// Points and spans of time as the policy sees them: always arguments, never read from a clock here.
#pragma once

#include <chrono>

namespace reprise::policy {

/// A point on the caller's steady clock. Tests and the simulator pass invented ones.
using Instant = std::chrono::steady_clock::time_point;
/// A span of time; what configuration calls a duration.
using Duration = std::chrono::nanoseconds;

}  // namespace reprise::policy
