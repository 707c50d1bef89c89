// Draws a request as a bar of attempts and waits. Each column represents an equal part of the request's
// duration.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/tools/top/reading.hpp"
#include "proxy/tools/top/screen.hpp"

namespace reprise::tools {

/// The result of an attempt, as it is drawn.
enum class DrawnResult : std::uint8_t {
  taken,    ///< a good response, and the client got it
  refused,  ///< a response that was retried, reports a failure, or did not reach the client
  failed,   ///< no response
};
DrawnResult drawn_result(const RequestReading&, const AttemptReading&);

/// Returns the character that represents this result in a bar.
std::string mark_of(DrawnResult, const Charset&);
std::string wait_mark(const Charset&);
std::string gap_mark(const Charset&);
Style style_of(DrawnResult);

/// Returns a bar of exactly `columns` columns. Each attempt has at least one column if there is room. Later
/// attempts are drawn over earlier ones, so that a hedge beside a slow attempt is visible.
std::vector<Piece> bar_of(const RequestReading&, std::size_t columns, const Charset&);
/// Returns a fraction (0 to 1) as a gauge, `[#####-----]`, of `columns` columns, but at least three.
std::string gauge_of(double share, std::size_t columns);

}  // namespace reprise::tools
