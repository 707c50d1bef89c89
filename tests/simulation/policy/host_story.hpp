// Random stories of one host: several requests that share its budget, circuit and pause, with hedges.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/simulation/policy/flaw.hpp"
#include "tests/support/script.hpp"

namespace reprise::simulation {

/// One request to the host.
struct Visit {
  policy::Duration at{};  ///< when the request head arrives, relative to the epoch
  policy::Facts facts;
  unsigned held_for = 0;  ///< the body is held while at most this many attempts have begun
  play::Script steps;     ///< one step per attempt; the last step repeats forever
};

struct HostStory {
  policy::RoutePolicy route;
  policy::Duration pause{};  ///< pause that a response before the epoch requested; it begins at the epoch
  unsigned failures = 0;     ///< failures that the circuit counted before the epoch
  policy::Duration usual{};  ///< typical time to a good response head before the epoch; zero: unknown
  std::vector<Visit> visits;
};

void draw(std::uint64_t seed, HostStory&);
void plant(Flaw, HostStory&);

}  // namespace reprise::simulation
