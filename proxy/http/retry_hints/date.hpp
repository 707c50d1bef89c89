// Reads HTTP dates (RFC 9110 5.6.7) and the dates of signed requests, strictly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::http {

/// Returns seconds since 1970 UTC for any of the three forms, nothing for other text. RFC 850 years are
/// placed within 50 years of `now_unix`.
std::optional<std::int64_t> parse_date(std::string_view, std::int64_t now_unix);
/// Reads `YYYYMMDDTHHMMSSZ` (ISO 8601 basic), the form of X-Amz-Date and X-Goog-Date. Returns nothing for
/// other text.
std::optional<std::int64_t> parse_basic_date(std::string_view);
/// Formats an IMF-fixdate.
std::string format_date(std::int64_t unix_seconds);

}  // namespace reprise::http
