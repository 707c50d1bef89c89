// `reprise top` where there is no terminal: lines for each interval.
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
  std::uint64_t count = 0;                      ///< intervals; 0: without end
  std::function<bool(std::string_view)> print;  ///< false: nobody reads any more
  std::function<void(std::string_view)> warn;   ///< a sentence without a line end
};

/// Blocks. False: there was no response at first, or in the last interval. In between, a proxy that does not
/// respond is told once, and asked again; its interval counts.
bool print_top(const LinesOptions&);

}  // namespace reprise::cli
