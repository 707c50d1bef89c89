// Every sequence of one to five attempts, each with its number.
#pragma once

#include <cstdint>

#include "tests/simulation/policy/lone_story.hpp"

namespace reprise::simulation {

/// 12 outcomes for each of 1 to 5 attempts, 4 states of the request's body, idempotent or not.
std::uint64_t enumerated_count();
/// `number` from 0 to the count - 1.
void enumerate(std::uint64_t number, LoneStory&);

}  // namespace reprise::simulation
