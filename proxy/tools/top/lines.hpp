// Writes the counts of each route within one interval as plain lines.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

enum class LineForm : std::uint8_t { text, json };

/// Returns one line for each route, with its counts in the last interval (`recent`), in the order of the
/// configuration. Returns an empty text before the second reading. Precondition: the window of the Watch is
/// 1, and read_status was called without a charset.
/// - `wall` is the current time in nanoseconds since 1970.
/// - Text has the form `name=value`. A value is quoted as in JSON if it has characters other than letters,
///   digits and `._-/:`.
/// - JSON has one object per line (RFC 8259). A value is null if there were no counts to compute it from.
/// - A quantile above the highest bucket bound is written as that bound.
std::string interval_lines(const Watch&, LineForm, std::int64_t wall);

}  // namespace reprise::tools
