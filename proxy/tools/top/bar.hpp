// A request as a bar: its attempts and waits, one column a piece of time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/tools/top/reading.hpp"
#include "proxy/tools/top/screen.hpp"

namespace reprise::tools {

/// What an attempt came to, as it is drawn.
enum class Came : std::uint8_t {
  taken,    ///< its response is what the client got
  refused,  ///< a response, and it was tried again or ended in vain
  failed,   ///< no response
};
Came came_of(const StoryReading&, const AttemptReading&);

/// One column of it.
std::string mark_of(Came, const Charset&);
std::string wait_mark(const Charset&);
std::string gap_mark(const Charset&);
Style style_of(Came);

/// Exactly so many columns. Where there is room for it, each attempt has one at least; the last are drawn
/// over the first, so that a copy beside a slow attempt is seen.
std::vector<Piece> bar_of(const StoryReading&, std::size_t columns, const Charset&);
/// A share of 0 to 1 as `[#####-----]`, of so many columns; of three where they are fewer.
std::string gauge_of(double share, std::size_t columns);

}  // namespace reprise::tools
