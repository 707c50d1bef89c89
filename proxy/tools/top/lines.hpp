// What was counted of each route within one interval, as plain lines.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

enum class LineForm : std::uint8_t { text, json };

/// One line for each route, in the order of the configuration, of `recent`; nothing before there are two
/// readings. The watch is to read with a window of 1 and its texts as they came. `wall`: nanoseconds since
/// 1970. Text: `name=value`, a value with anything but letters, digits and `._-/:` in it in quotes, as JSON
/// has them. JSON: an object a line (RFC 8259); null: nothing was counted that it could be made of. Quantiles
/// beyond the highest bound are told as that bound.
std::string interval_lines(const Watch&, LineForm, std::int64_t wall);

}  // namespace reprise::tools
