// Draws a screen of text from the readings of a proxy and the user's current view. A pure function.
#pragma once

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

/// Returns the screen. It has at most as many lines as the terminal has rows, and no line is wider than the
/// terminal. Works for any terminal size, even 1 by 1.
Screen draw(const Watch&, const View&, const Display&);

}  // namespace reprise::tools
