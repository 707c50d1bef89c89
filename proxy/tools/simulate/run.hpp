// One policy tried in one world: the proxy's own state machines on a clock that nobody waits for.
#pragma once

#include <functional>

#include "proxy/policy/decision/route.hpp"
#include "proxy/tools/simulate/world.hpp"

namespace reprise::tools {

/// A configuration's routes under a name.
struct Subject {
  std::string name;
  std::string sentence;  ///< what it is
  policy::RouteTable routes;
};

/// What a run needs besides.
struct RunOptions {
  std::uint64_t seed = 1;  ///< of the dice that roll the waits
  Duration duration{};     ///< what is measured step by step; requests come as long
  std::optional<Duration> patience;
  std::optional<Duration> trouble_from;   ///< when the first outage or burst begins
  std::optional<Duration> trouble_ended;  ///< when the last one is over
  /// Told how many requests have come, every few thousand; may be empty.
  std::function<void(std::uint64_t)> progress;
};

RunOptions options_for(const Model&);

/// Pure: the same arguments give the same measures. It ends with the last request, or `longest_tail` after
/// the last has come.
Measures run(const Subject&, World&, const RunOptions&);

}  // namespace reprise::tools
