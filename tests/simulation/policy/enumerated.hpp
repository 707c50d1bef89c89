// All stories of one to five attempts, by number.
#pragma once

#include <cstdint>

#include "tests/simulation/policy/lone_story.hpp"

namespace reprise::simulation {

/// Returns the number of stories: 12 outcomes for each of 1 to 5 attempts, 4 states of the request's body,
/// idempotent or not.
std::uint64_t enumerated_count();
/// Writes the story with that number to the second argument. Precondition: `number` is less than
/// enumerated_count().
void enumerate(std::uint64_t number, LoneStory&);

}  // namespace reprise::simulation
