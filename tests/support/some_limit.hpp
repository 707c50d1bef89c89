// For what is right only while no thread stalls for as long as a limit under test.
#pragma once

#include <chrono>

namespace reprise::play {

/// Tries with limits that grow from `first` to half a minute until `holds(limit)`: a machine that stalls for
/// longer than a short limit gets a longer one, and what is wrong is wrong under each. False: under none.
template <typename Try>
bool under_some_limit(std::chrono::milliseconds first, Try holds) {
  for (auto limit = first; limit < std::chrono::seconds(30); limit *= 4) {
    if (holds(limit)) return true;
  }
  return false;
}

}  // namespace reprise::play
