// The page that lists a route's last requests that were retried or refused, and the page of one such request.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/tools/top/reading.hpp"
#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

/// Return the lines of the page. request_page returns at most `rows` lines from the scroll position;
/// requests_page may return more lines, which `draw` omits.
std::vector<Line> requests_page(const Watch&, const View&, const Display&, std::size_t rows);
std::vector<Line> request_page(const Watch&, const View&, const Display&, std::size_t rows);

/// Returns the entry of a request in a list: one line, or more if its target does not fit on that line.
std::vector<Line> request_rows(const RequestReading&, bool with_route, const Display&);
/// Returns all details of one request.
std::vector<Line> request_lines(const RequestReading&, const Display&);
/// Describes why the request ended as it did, and how to get another outcome.
std::string reason_text(const RequestReading&);

}  // namespace reprise::tools
