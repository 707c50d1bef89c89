// The page of the current configuration, the listeners, and every upstream that something is known of.
#pragma once

#include <cstddef>
#include <vector>

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

/// Fills at most that many `rows`; the page can be scrolled.
std::vector<Line> upstreams_page(const Watch&, const View&, const Display&, std::size_t rows);

}  // namespace reprise::tools
