// Draws the parts of a random story: routes, requests, and what their attempts come to.
#pragma once

#include "tests/simulation/policy/purpose.hpp"
#include "tests/support/script.hpp"

namespace reprise::simulation {

/// Which kinds of fault a story has: a random half, so that one kind does not hide another.
class Swarm {
 public:
  explicit Swarm(Chance& chance) : on_(chance.bits()) {}
  bool has(std::size_t kind) const { return (on_ >> (kind % 64) & 1U) != 0; }

 private:
  std::uint64_t on_;
};

/// Changes all of the route but its budget; what it had before does not matter.
void draw_route(Chance&, policy::RoutePolicy&);
policy::Facts draw_facts(Chance&, policy::Instant begin);
/// What each attempt comes to, how long it takes, and what happens meanwhile.
void draw_script(Chance&, const Swarm&, play::Script&);

}  // namespace reprise::simulation
