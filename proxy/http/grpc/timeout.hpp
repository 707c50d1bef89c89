// Reads and writes values of grpc-timeout, the time that a client gives a call.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/message/head.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::http {

/// Parses 1 to 8 digits, followed by a unit: H, M, S, m (ms), u (microseconds) or n (ns). Returns nothing for
/// any other text; the call then has no deadline of its own (rows M87 and M88). A time above 2^31 s is read
/// as 2^31 s.
std::optional<policy::Duration> parse_timeout(std::string_view value);

/// Returns the time limit of a call as sent. Empty if the call has none, or one that is malformed or
/// repeated: the field then passes unchanged (row M88).
std::string_view timeout_of(const RequestHead&);

/// Writes the remaining time of a call in milliseconds, rounded down, but at least `1m` (row M87). If the
/// number would have more than 8 digits, writes it in seconds, minutes or hours.
std::string format_timeout(policy::Duration left);

}  // namespace reprise::http
