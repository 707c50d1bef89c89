// Draws a request as a bar: its attempts and waits, where each column is a span of time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/tools/top/reading.hpp"
#include "proxy/tools/top/screen.hpp"

namespace reprise::tools {

/// Result of an attempt, as drawn.
enum class DrawnResult : std::uint8_t {
  taken,    ///< a good response, and the client got it
  refused,  ///< a response that was retried, that failed, or that the client did not get
  failed,   ///< no response
};
DrawnResult drawn_result(const RequestReading&, const AttemptReading&);

/// Returns the character of one column.
std::string mark_of(DrawnResult, const Charset&);
std::string wait_mark(const Charset&);
std::string gap_mark(const Charset&);
Style style_of(DrawnResult);

/// Returns a bar of exactly `columns` columns. If there is room, each attempt has at least one column. Later
/// attempts are drawn over earlier ones, so that a copy beside a slow attempt is visible.
std::vector<Piece> bar_of(const RequestReading&, std::size_t columns, const Charset&);
/// Returns a fraction of 0 to 1 as `[#####-----]`, `columns` wide, but at least three.
std::string gauge_of(double share, std::size_t columns);

}  // namespace reprise::tools
