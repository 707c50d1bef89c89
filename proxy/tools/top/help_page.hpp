// The help page: describes the keys and the columns.
#pragma once

#include <cstddef>
#include <vector>

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"

namespace reprise::tools {

/// Returns at most `rows` lines of the help page, from the view's scroll position on.
std::vector<Line> help_page(const View&, const Display&, std::size_t rows);

}  // namespace reprise::tools
