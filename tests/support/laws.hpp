// Laws (invariants) that every story must obey. They are judged from the script, not from the exchange's own
// reports.
#pragma once

#include <string>
#include <string_view>

#include "tests/support/play.hpp"

namespace reprise::play {

/// Returns the first law that the run of this script in this scene breaks; empty if all hold.
std::string_view first_broken_law(const Scene&, const Script&, const Played&);

/// Plays a story. Returns its transcript, and the law that it breaks, if any.
std::string play(const Scene&, const Script&);

}  // namespace reprise::play
