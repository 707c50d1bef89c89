// Simulates one policy in one world (its requests and its upstream), with the proxy's own state machines and
// a virtual clock.
#pragma once

#include <functional>

#include "proxy/policy/decision/route.hpp"
#include "proxy/tools/simulate/world.hpp"

namespace reprise::tools {

/// A policy to simulate: its name in the report, and the routes of its configuration.
struct Subject {
  std::string name;
  std::string sentence;  ///< description of the policy
  policy::RouteTable routes;
};

/// Settings of a run.
struct RunOptions {
  std::uint64_t seed = 1;  ///< seed of the random numbers for the waits before retries
  Duration duration{};     ///< time for which requests arrive, divided into steps
  std::optional<Duration> patience;
  std::optional<Duration> trouble_from;   ///< start of the first outage or burst
  std::optional<Duration> trouble_ended;  ///< end of the last outage or burst
  /// Called every few thousand requests with the number of requests so far; may be empty.
  std::function<void(std::uint64_t)> progress;
};

RunOptions options_for(const Model&);

/// Runs the policy and returns the results. Pure: the same arguments give the same results. The run ends when
/// the last request ends, or `longest_tail` after the last arrival.
Measures run(const Subject&, World&, const RunOptions&);

}  // namespace reprise::tools
