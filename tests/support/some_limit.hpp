// For checks that hold only if no thread stalls for longer than a limit under test.
#pragma once

#include <chrono>

namespace reprise::play {

/// Calls `holds(limit)` with limits that grow from `first` to below 30 seconds, until it returns true. If the
/// machine stalls for longer than a short limit, a longer one succeeds; a defect fails with every limit.
/// Returns false if none succeeds.
template <typename Try>
bool under_some_limit(std::chrono::milliseconds first, Try holds) {
  for (auto limit = first; limit < std::chrono::seconds(30); limit *= 4) {
    if (holds(limit)) return true;
  }
  return false;
}

}  // namespace reprise::play
