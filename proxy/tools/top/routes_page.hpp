// The first page: the table of routes, the upstreams in trouble, and the last requests that were retried or
// refused.
#pragma once

#include <cstddef>
#include <vector>

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

/// Returns at most `rows` lines of the page.
std::vector<Line> routes_page(const Watch&, const View&, const Display&, std::size_t rows);

}  // namespace reprise::tools
