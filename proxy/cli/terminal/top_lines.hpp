// Runs `reprise top` without a terminal: prints lines for each interval.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "proxy/server/admin/ask_admin.hpp"
#include "proxy/tools/top/lines.hpp"

namespace reprise::cli {

struct LinesOptions {
  server::AdminAddress at;
  Duration interval;
  tools::LineForm form = tools::LineForm::text;
  std::uint64_t count = 0;                      ///< number of intervals; 0 for no limit
  std::function<bool(std::string_view)> print;  ///< prints text; returns false if the output is closed
  std::function<void(std::string_view)> warn;   ///< prints a warning; the text has no line end
};

/// Prints lines until `count` intervals have passed or the output is closed. Blocks. Returns false if the
/// proxy did not respond to the first request, or in the last interval. If the proxy stops responding at
/// another time, warns once and continues. Intervals without a response are included in `count`.
bool print_top(const LinesOptions&);

}  // namespace reprise::cli
