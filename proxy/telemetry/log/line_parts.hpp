// The pieces that both forms of a log line are made of: times, spans, and which attempts are shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/telemetry/log/exchange_record.hpp"

namespace reprise::telemetry {

/// RFC 3339 in UTC with milliseconds; valid until the thread's
/// next call. `wall`: nanoseconds since 1970, and not before.
std::string_view timestamp(std::int64_t wall);
/// Local time of day, `10:03:12`.
void append_clock(std::string& out, std::int64_t wall);
/// For people: `0.4ms`, `812ms`, `1.2s`, `75s`.
void append_span(std::string& out, policy::Duration);

/// `http://host[:port]/path`, or `https`, without the query, or `host:port` for a tunnel, unescaped and with
/// every part clipped; with `LogPath::route` the route's name in brackets stands for the path.
std::string url_of(const ExchangeRecord&, std::string_view route, config::LogPath);

/// Of more attempts than this the middle ones are left out: an unlimited route must not make unlimited lines.
inline constexpr std::size_t first_attempts_shown = 24;
inline constexpr std::size_t last_attempts_shown = 8;
/// How many attempts of `count` are left out.
std::size_t attempts_left_out(std::size_t count);

/// `192.0.2.7:443`, `[2001:db8::1]:443`; empty where nothing was dialled.
std::string text_of(const policy::UpstreamAddress&);

/// "error", "warn", "info", "debug".
std::string_view word(config::LogLevel);

/// "<3>" for an error, "<4>", "<6>" and "<7>" for the others: the priority that the journal takes from the
/// begin of a line (sd-daemon(3)).
std::string_view priority_prefix(config::LogLevel);

/// True for the methods of RFC 9110 section 9, and PATCH. Any other is a word that a client may have made up.
bool is_known_method(std::string_view method);

struct HostAndPort {
  std::string_view host;   ///< without brackets
  std::uint64_t port = 0;  ///< 0: there is none
};
/// The parts of `192.0.2.7:443` or `[2001:db8::1]:443`; views into `text`.
HostAndPort parts_of(std::string_view text);

}  // namespace reprise::telemetry
