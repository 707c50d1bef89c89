// From what is known of a proxy and what somebody looks at to a screen of text: a pure function.
#pragma once

#include "proxy/screen/screen.hpp"
#include "proxy/top/view.hpp"
#include "proxy/top/watch.hpp"

namespace reprise::top {

/// As many lines as the terminal has, none broader, whatever its size from 1 by 1 on.
Screen draw(const Watch&, const View&, const Look&);

}  // namespace reprise::top
