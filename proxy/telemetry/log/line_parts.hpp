// Parts that both forms of a log line share: times, spans, URLs, and which attempts are shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/telemetry/log/exchange_record.hpp"

namespace reprise::telemetry {

/// Returns the time as RFC 3339 in UTC with milliseconds. The text is valid until the same thread calls this
/// function again. `wall`: nanoseconds since 1970, at least 0.
std::string_view timestamp(std::int64_t wall);
/// Appends the local time of day, for example `10:03:12`.
void append_clock(std::string& out, std::int64_t wall);
/// Appends a duration for people, for example `0.4ms`, `812ms`, `1.2s` or `75s`.
void append_span(std::string& out, policy::Duration);

/// Returns `http://host[:port]/path` (or `https`) without the query, or `host:port` for a tunnel. The text is
/// not escaped, and each part of it is clipped. With `LogPath::route`, the route's name in brackets replaces
/// the path.
std::string url_of(const ExchangeRecord&, std::string_view route, config::LogPath);

/// A line shows only the first and the last attempts of a request. Its length therefore stays limited, even
/// if the route allows unlimited attempts.
inline constexpr std::size_t first_attempts_shown = 24;
inline constexpr std::size_t last_attempts_shown = 8;
/// Returns how many of the `count` attempts of a request a log line omits.
std::size_t attempts_left_out(std::size_t count);

/// Returns the address as text, for example `192.0.2.7:443` or `[2001:db8::1]:443`. Empty if no address was
/// dialled.
std::string text_of(const policy::UpstreamAddress&);

/// Returns "error", "warn", "info" or "debug".
std::string_view word(config::LogLevel);

/// Returns the priority that the journal reads at the start of a line (sd-daemon(3)): "<3>" for an error,
/// then "<4>", "<6>" and "<7>".
std::string_view priority_prefix(config::LogLevel);

/// Returns true for the methods of RFC 9110 section 9, and for PATCH. Any other method may be a word that a
/// client made up.
bool is_known_method(std::string_view method);

struct HostAndPort {
  std::string_view host;   ///< without brackets
  std::uint64_t port = 0;  ///< 0 if the text has no port
};
/// Splits `192.0.2.7:443` or `[2001:db8::1]:443`. Returns views into `text`.
HostAndPort parts_of(std::string_view text);

}  // namespace reprise::telemetry
