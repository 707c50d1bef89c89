// The page of the current configuration, the listeners, and all known upstreams.
#pragma once

#include <cstddef>
#include <vector>

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

/// Returns at most `rows` lines of the upstreams page, from the view's scroll position on.
std::vector<Line> upstreams_page(const Watch&, const View&, const Display&, std::size_t rows);

}  // namespace reprise::tools
