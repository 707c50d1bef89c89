// Reads HTTP dates (RFC 9110 5.6.7) and the dates of signed requests, strictly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::http {

/// Returns the date in seconds since 1970 UTC. Accepts the three forms of HTTP dates; returns nothing for
/// other text. A two-digit year (RFC 850) is placed within 50 years of `now_unix`.
std::optional<std::int64_t> parse_date(std::string_view, std::int64_t now_unix);
/// Reads `YYYYMMDDTHHMMSSZ` (ISO 8601 basic), the form of X-Amz-Date and X-Goog-Date. Returns nothing for
/// other text.
std::optional<std::int64_t> parse_basic_date(std::string_view);
/// Formats a date as an IMF-fixdate.
std::string format_date(std::int64_t unix_seconds);

}  // namespace reprise::http
