// What numbers are drawn for in a story of the policy: each purpose has a stream of its own.
#pragma once

#include "tests/support/chance.hpp"

namespace reprise::simulation {

using play::Chance;

enum class Purpose : std::uint8_t { kind = 1, scene, steps, visits, waits };

}  // namespace reprise::simulation
