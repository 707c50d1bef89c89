// Purposes for which a story draws random numbers. Each has its own stream.
#pragma once

#include "tests/support/chance.hpp"

namespace reprise::simulation {

using play::Chance;
using play::Seed;
using play::Tape;

enum class Purpose : std::uint8_t {
  order = 1,
  swarm,
  policy,
  clients,
  dials,
  names,
  responses,
  pieces,
  proxy
};

}  // namespace reprise::simulation
