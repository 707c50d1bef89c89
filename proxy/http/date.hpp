// HTTP dates (RFC 9110 5.6.7) and Retry-After (10.2.3), read strictly: junk is no hint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/head.hpp"
#include "proxy/policy/outcome.hpp"

namespace reprise::http {

/// Seconds since 1970 UTC from any of the three forms; nothing for junk. RFC 850 years are placed within 50
/// years of `now`.
std::optional<std::int64_t> parse_date(std::string_view, std::int64_t now_unix);
/// IMF-fixdate.
std::string format_date(std::int64_t unix_seconds);

/// The hints of an answer: Retry-After as seconds, or as a date counted from the answer's own Date (from
/// `now_unix` where it has none). 0, negative, junk and dates in the past are no hint. Several fields: the
/// longest.
policy::Hints read_hints(const ResponseHead&, std::int64_t now_unix);

}  // namespace reprise::http
