// Runs one policy in one world: the proxy's own state machines on a virtual clock.
#pragma once

#include <functional>

#include "proxy/policy/decision/route.hpp"
#include "proxy/tools/simulate/world.hpp"

namespace reprise::tools {

/// A configuration's routes under a name.
struct Subject {
  std::string name;
  std::string sentence;  ///< a description
  policy::RouteTable routes;
};

/// Settings of a run.
struct RunOptions {
  std::uint64_t seed = 1;  ///< for the dice that draw the waits
  Duration duration{};     ///< measured in steps; requests arrive for this long
  std::optional<Duration> patience;
  std::optional<Duration> trouble_from;   ///< start of the first outage or burst
  std::optional<Duration> trouble_ended;  ///< end of the last outage or burst
  /// Called with the number of requests so far, every few thousand requests; may be empty.
  std::function<void(std::uint64_t)> progress;
};

RunOptions options_for(const Model&);

/// Pure: the same arguments give the same results. Ends with the last request, or `longest_tail` after the
/// last arrival.
Measures run(const Subject&, World&, const RunOptions&);

}  // namespace reprise::tools
