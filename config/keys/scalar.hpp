// Parses the scalar values of a configuration: duration, size, ratio, rate, number, status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/policy/match/status_range.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::config {

using policy::Duration;
using policy::StatusRange;

/// A parsed value, or the reason why the text is invalid.
template <typename T>
struct Parsed {
  std::optional<T> value;
  std::string reason;      ///< text for the end of a message; never quotes the value, which may be a secret
  std::string suggestion;  ///< the text to write instead; empty if there is no suggestion

  explicit operator bool() const { return value.has_value(); }
};

/// Returns a failed result with the given reason.
template <typename T>
Parsed<T> refuse(std::string reason, std::string suggestion = {}) {
  return {std::nullopt, std::move(reason), std::move(suggestion)};
}

/// Returns true for an ASCII letter or digit.
constexpr bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Parses a duration such as `250ms`, `1m30s` or `1.5s`: numbers with the units us, ms, s, m or h, largest
/// unit first. 0 needs no unit. The value must be below 292 years.
Parsed<Duration> parse_duration(std::string_view);
/// Parses a number of bytes: `64KiB`, `10MB`, `512B`. 0 needs no unit.
Parsed<std::uint64_t> parse_size(std::string_view);
/// Parses a ratio from 0 to 1, written `20%` or `0.2`.
Parsed<double> parse_ratio(std::string_view);
/// Parses a rate per second: `10/s`, `0.5/s`. 0 needs no unit.
Parsed<double> parse_rate(std::string_view);
/// Parses `true` or `false`, and no other word.
Parsed<bool> parse_boolean(std::string_view);
/// Parses decimal digits without sign and leading zeros.
Parsed<std::uint64_t> parse_whole(std::string_view);
/// Parses decimal digits with at most one point, which needs digits on both sides.
Parsed<double> parse_number(std::string_view);

/// Parses `503`, `500-599` or `5xx`. Statuses are 200 to 999, because an interim response (1xx) is never
/// final.
Parsed<StatusRange> parse_statuses(std::string_view);

/// Each `..._text` function below returns the shortest text that parses to the same value.
std::string duration_text(Duration);
std::string size_text(std::uint64_t bytes);
std::string ratio_text(double);
std::string rate_text(double);
std::string number_text(double);

}  // namespace reprise::config
