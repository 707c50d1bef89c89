// Writes the counts of each route within one interval as plain lines.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

enum class LineForm : std::uint8_t { text, json };

/// Returns one line for each route, with its counts in the last interval (`recent`), in the order of the
/// configuration. Empty before the second reading. Precondition: the watch has a window of 1, and read_status
/// was called without a charset.
/// - `wall`: the current time in nanoseconds since 1970.
/// - Text: `name=value`. A value with other characters than letters, digits and `._-/:` is in quotes, as in
///   JSON.
/// - JSON: one object per line (RFC 8259). A value is null if there were no counts from which to compute it.
/// - A quantile above the highest bound is written as that bound.
std::string interval_lines(const Watch&, LineForm, std::int64_t wall);

}  // namespace reprise::tools
