// Writes the counts of each route within one interval as plain lines.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

enum class LineForm : std::uint8_t { text, json };

/// Returns one line of `recent` for each route, in the order of the configuration; nothing before the second
/// reading. Precondition: the watch has a window of 1, and its texts are unchanged (no charset).
///  - `wall`: nanoseconds since 1970.
///  - Text: `name=value`. A value with anything but letters, digits and `._-/:` is in quotes, as in JSON.
///  - JSON: one object per line (RFC 8259). null: there were no counts to compute the value from.
///  - A quantile beyond the highest bound is written as that bound.
std::string interval_lines(const Watch&, LineForm, std::int64_t wall);

}  // namespace reprise::tools
