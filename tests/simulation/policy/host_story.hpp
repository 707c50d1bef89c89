// Random stories of a host: several requests that share its budget,
// circuit and pause; and copies beside slow attempts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/simulation/policy/flaw.hpp"
#include "tests/support/script.hpp"

namespace reprise::simulation {

/// One request to the host.
struct Visit {
  policy::Duration at{};  ///< when its head is there, after the epoch
  policy::Facts facts;
  unsigned held_for = 0;  ///< its body is held until that attempt has begun
  play::Script steps;     ///< the last one repeats for ever
};

struct HostStory {
  policy::RoutePolicy route;
  policy::Duration pause{};  ///< asked for by a response before the epoch
  unsigned failures = 0;     ///< what the circuit has seen before the epoch
  policy::Duration usual{};  ///< how long good responses took to begin so far; zero: nothing is known
  std::vector<Visit> visits;
};

void draw(std::uint64_t seed, HostStory&);
void plant(Flaw, HostStory&);

}  // namespace reprise::simulation
