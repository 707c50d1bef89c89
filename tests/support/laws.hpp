// The laws that every story obeys, judged from the script and not from what the exchange says of itself.
#pragma once

#include <string>
#include <string_view>

#include "tests/support/play.hpp"

namespace reprise::play {

/// The first law that does not hold of a run of that script in that scene; empty: all do.
std::string_view first_broken_law(const Scene&, const Script&, const Played&);

/// Plays a story, and tells its transcript and the law that it breaks, if any.
std::string play(const Scene&, const Script&);

}  // namespace reprise::play
