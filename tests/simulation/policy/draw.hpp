// Draws the parts of a random story: routes, requests, and the outcomes of their attempts.
#pragma once

#include "tests/simulation/policy/purpose.hpp"
#include "tests/support/script.hpp"

namespace reprise::simulation {

/// The fault kinds of one story: a random half of all kinds, so that one kind does not hide another.
class Swarm {
 public:
  explicit Swarm(Chance& chance) : on_(chance.bits()) {}
  bool has(std::size_t kind) const { return (on_ >> (kind % 64) & 1U) != 0; }

 private:
  std::uint64_t on_;
};

/// Sets everything in the route except its budget.
void draw_route(Chance&, policy::RoutePolicy&);
policy::Facts draw_facts(Chance&, policy::Instant begin);
/// Draws the outcome of each attempt, its duration, and events during it.
void draw_script(Chance&, const Swarm&, play::Script&);

}  // namespace reprise::simulation
