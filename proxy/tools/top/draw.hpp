// From what is known of a proxy and what somebody looks at to a screen of text: a pure function.
#pragma once

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

/// As many lines as the terminal has, none broader, whatever its size from 1 by 1 on.
Screen draw(const Watch&, const View&, const Look&);

}  // namespace reprise::tools
