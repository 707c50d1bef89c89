// Draws a screen of text from what is known of a proxy and the user's current view: a pure function.
#pragma once

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

/// Returns at most as many lines as the terminal has, none wider than it. Works for any size from 1 by 1.
Screen draw(const Watch&, const View&, const Display&);

}  // namespace reprise::tools
