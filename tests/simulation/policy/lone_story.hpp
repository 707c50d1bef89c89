// Random stories of one request that has its host to itself: the scenes and laws of tests/support.
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
/// Plays what is told under that flaw, and judges it by the story itself. `marks` may be null.
Judged judge(const LoneStory&, Flaw, policy::Dice&, CoverageMarks* marks);
std::string transcript(const LoneStory&, Flaw, policy::Dice&);

}  // namespace reprise::simulation
