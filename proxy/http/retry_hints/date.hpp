// HTTP dates (RFC 9110 5.6.7) and the dates of signed requests, read strictly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::http {

/// Seconds since 1970 UTC from any of the three forms; nothing for junk. RFC 850 years are placed within 50
/// years of `now`.
std::optional<std::int64_t> parse_date(std::string_view, std::int64_t now_unix);
/// `YYYYMMDDTHHMMSSZ` (ISO 8601 basic), as X-Amz-Date and X-Goog-Date have it; nothing for anything else.
std::optional<std::int64_t> parse_basic_date(std::string_view);
/// IMF-fixdate.
std::string format_date(std::int64_t unix_seconds);

}  // namespace reprise::http
