// Repeats a check with longer and longer limits, because the check fails if a thread stalls for longer than
// the limit.
#pragma once

#include <chrono>

namespace reprise::play {

/// Calls `holds(limit)` with limits that grow from `first` to below 30 seconds, until it returns true. If the
/// machine stalls for longer than a short limit, the check succeeds with a longer limit. A defect fails with
/// every limit: the function then returns false.
template <typename Try>
bool under_some_limit(std::chrono::milliseconds first, Try holds) {
  for (auto limit = first; limit < std::chrono::seconds(30); limit *= 4) {
    if (holds(limit)) return true;
  }
  return false;
}

}  // namespace reprise::play
