// The page of help: what the keys do and what the columns mean.
#pragma once

#include <cstddef>
#include <vector>

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"

namespace reprise::tools {

/// Fills at most that many `rows`; the page can be scrolled.
std::vector<Line> help_page(const View&, const Display&, std::size_t rows);

}  // namespace reprise::tools
