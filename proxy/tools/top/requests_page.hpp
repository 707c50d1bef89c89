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

/// Returns the lines of the page. request_page returns at most `rows` lines, from the scroll position on.
/// requests_page may return more lines; `draw` omits those.
std::vector<Line> requests_page(const Watch&, const View&, const Display&, std::size_t rows);
std::vector<Line> request_page(const Watch&, const View&, const Display&, std::size_t rows);

/// Returns the list entry of a request: one line, or more lines if the request target is too long for one
/// line.
std::vector<Line> request_rows(const RequestReading&, bool with_route, const Display&);
/// Returns all details of one request.
std::vector<Line> request_lines(const RequestReading&, const Display&);
/// Describes why the request ended as it did, and how to get another outcome.
std::string reason_text(const RequestReading&);

}  // namespace reprise::tools
