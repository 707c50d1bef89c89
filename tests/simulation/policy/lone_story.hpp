// Random stories of a single request to a host, with the scenes and laws of tests/support.
#pragma once

#include <cstdint>
#include <string>

#include "tests/simulation/policy/coverage_marks.hpp"
#include "tests/simulation/policy/flaw.hpp"
#include "tests/simulation/policy/judged.hpp"

namespace reprise::simulation {

struct LoneStory {
  play::Scene scene;
  play::Script script;
};

void draw(std::uint64_t seed, LoneStory&);
/// Plays the story with the flaw applied, and checks the result against the laws, which read the unaltered
/// story. `marks` may be null.
Judged judge(const LoneStory&, Flaw, policy::Dice&, CoverageMarks* marks);
std::string transcript(const LoneStory&, Flaw, policy::Dice&);

}  // namespace reprise::simulation
