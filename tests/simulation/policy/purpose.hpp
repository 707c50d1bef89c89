// Purposes for which a policy story draws random numbers. Each purpose has its own stream of numbers.
#pragma once

#include "tests/support/chance.hpp"

namespace reprise::simulation {

using play::Chance;

enum class Purpose : std::uint8_t { kind = 1, scene, steps, visits, waits };

}  // namespace reprise::simulation
