// The pages of one route's last requests that were retried or refused, and of one of them in full.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/tools/top/reading.hpp"
#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

/// Each fills at most that many `rows`; what does not fit is scrolled or left out.
std::vector<Line> requests_page(const Watch&, const View&, const Display&, std::size_t rows);
std::vector<Line> request_page(const Watch&, const View&, const Display&, std::size_t rows);

/// One request in a list: one line, or more if its target has no room on one.
std::vector<Line> request_rows(const RequestReading&, bool with_route, const Display&);
/// One request in full.
std::vector<Line> request_lines(const RequestReading&, const Display&);
/// The reason of a request in words, and what would change it.
std::string reason_text(const RequestReading&);

}  // namespace reprise::tools
