#include "proxy/telemetry/log/line_parts.hpp"

#include <arpa/inet.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>
#include <iterator>

#include "proxy/policy/match/ascii.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::telemetry {
namespace {

constexpr std::uint16_t http_port = 80;
constexpr std::uint16_t https_port = 443;

char* put_padded(char* at, unsigned value, unsigned divisor) {
  for (; divisor > 0; divisor /= 10) *at++ = static_cast<char>('0' + value / divisor % 10);
  return at;
}

constexpr std::size_t timestamp_bytes = std::string_view("2026-11-25T10:03:12.345Z").size();

// Writes a time as in RFC 3339, but leaves a gap for the milliseconds. Returns a pointer to this gap.
char* put_second(char* at, std::chrono::sys_seconds second) {
  const auto day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(second - day);
  at[timestamp_bytes - 1] = 'Z';
  at = put_padded(at, static_cast<unsigned>(static_cast<int>(date.year())), 1000);
  *at++ = '-';
  at = put_padded(at, static_cast<unsigned>(date.month()), 10);
  *at++ = '-';
  at = put_padded(at, static_cast<unsigned>(date.day()), 10);
  *at++ = 'T';
  at = put_padded(at, static_cast<unsigned>(time.hours().count()), 10);
  *at++ = ':';
  at = put_padded(at, static_cast<unsigned>(time.minutes().count()), 10);
  *at++ = ':';
  at = put_padded(at, static_cast<unsigned>(time.seconds().count()), 10);
  *at++ = '.';
  return at;
}

}  // namespace

// Caches the text of the last second, because thousands of lines may have the same second.
std::string_view timestamp(std::int64_t wall) {
  thread_local std::chrono::sys_seconds written{std::chrono::seconds::min()};
  thread_local std::array<char, timestamp_bytes> text;
  thread_local char* milliseconds = nullptr;
  const std::chrono::sys_time<std::chrono::nanoseconds> instant{std::chrono::nanoseconds(wall)};
  const auto second = std::chrono::floor<std::chrono::seconds>(instant);
  if (second != written) milliseconds = put_second(text.data(), second);
  written = second;
  put_padded(milliseconds, static_cast<unsigned>((instant - second) / std::chrono::milliseconds(1)), 100);
  return {text.data(), text.size()};
}

void append_clock(std::string& out, std::int64_t wall) {
  const auto seconds = static_cast<std::time_t>(wall / 1'000'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  fmt::format_to(std::back_inserter(out), "{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

void append_span(std::string& out, policy::Duration span) {
  const double milliseconds = std::max(0.0, std::chrono::duration<double, std::milli>(span).count());
  auto to = std::back_inserter(out);
  if (milliseconds < 9.95) {
    fmt::format_to(to, "{:.1f}ms", milliseconds);
  } else if (milliseconds < 999.5) {
    fmt::format_to(to, "{:.0f}ms", milliseconds);
  } else if (milliseconds < 59'950) {
    fmt::format_to(to, "{:.1f}s", milliseconds / 1000);
  } else {
    fmt::format_to(to, "{:.0f}s", milliseconds / 1000);
  }
}

std::string url_of(const ExchangeRecord& record, std::string_view route, config::LogPath path) {
  std::string url(record.tunnel ? "" : (record.over_tls ? "https://" : "http://"));
  const std::uint16_t standard = record.over_tls ? https_port : http_port;
  url += policy::host_text(clipped(record.host));
  if (record.port != 0 && (record.tunnel || record.port != standard)) {
    url += ':';
    append_number(url, std::uint64_t{record.port});
  }
  if (path == config::LogPath::route) {
    url += '[';
    url += route;
    url += ']';
  } else {
    url += clipped(record.path);
  }
  return url;
}

std::size_t attempts_left_out(std::size_t count) {
  constexpr std::size_t shown = first_attempts_shown + last_attempts_shown;
  static_assert(first_attempts_shown <= policy::Ledger::first_kept);
  static_assert(last_attempts_shown <= policy::Ledger::last_kept);
  return count > shown ? count - shown : 0;
}

std::string_view word(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::error: return "error";
    case config::LogLevel::warn: return "warn";
    case config::LogLevel::info: return "info";
    case config::LogLevel::debug: break;
  }
  return "debug";
}

std::string_view priority_prefix(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::error: return "<3>";
    case config::LogLevel::warn: return "<4>";
    case config::LogLevel::info: return "<6>";
    case config::LogLevel::debug: break;
  }
  return "<7>";
}

bool is_known_method(std::string_view method) {
  static constexpr std::array<std::string_view, 9> known{"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                                         "CONNECT", "OPTIONS", "TRACE", "PATCH"};
  return std::find(known.begin(), known.end(), method) != known.end();
}

HostAndPort parts_of(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text, 0};
  HostAndPort parts{text.substr(0, colon), 0};
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), parts.port);
  if (parts.host.starts_with('[') && parts.host.ends_with(']'))
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  return parts;
}

std::string text_of(const policy::UpstreamAddress& address) {
  if (!address.known()) return {};
  const bool v4 = address.family == policy::UpstreamAddress::Family::v4;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_ntop(v4 ? AF_INET : AF_INET6, address.bytes.data(), text.data(), text.size()) == nullptr)
    return {};
  const std::string host = v4 ? text.data() : "[" + std::string(text.data()) + "]";
  return host + ":" + std::to_string(address.port);
}

}  // namespace reprise::telemetry
