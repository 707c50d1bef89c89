// Visits the fields of a trailer section that is written as HTTP/1 lines.
#pragma once

#include <algorithm>
#include <string_view>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {

/// Calls `visit` with the name and the value of each line, the value without blanks at either end. Each line
/// ends in CRLF; the last one may lack it. Skips lines without a colon.
template <class Visit>
void for_each_trailer(std::string_view lines, Visit visit) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find("\r\n"), lines.size());
    const std::string_view line = lines.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) visit(line.substr(0, colon), ascii::trim(line.substr(colon + 1)));
    lines.remove_prefix(std::min(end + 2, lines.size()));
  }
}

}  // namespace reprise::http
