// The scalar values of a configuration: text in; a duration,
// size, ratio, rate, number or status out, or a reason.
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

/// A value, or why the text is none.
template <typename T>
struct Parsed {
  std::optional<T> value;
  std::string reason;      ///< completes "`text` ...": never quotes the text, which may be a secret
  std::string suggestion;  ///< what to write instead, made from the text; empty: nothing better is known

  explicit operator bool() const { return value.has_value(); }
};

/// No value, and why.
template <typename T>
Parsed<T> refuse(std::string reason, std::string suggestion = {}) {
  return {std::nullopt, std::move(reason), std::move(suggestion)};
}

/// An ASCII letter or digit.
constexpr bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// `250ms`, `1m30s`, `1.5s`: numbers with us, ms, s, m or h,
/// largest unit first; 0 needs no unit. Below 292 years.
Parsed<Duration> parse_duration(std::string_view);
/// Bytes: `64KiB`, `10MB`, `512B`; 0 needs no unit.
Parsed<std::uint64_t> parse_size(std::string_view);
/// 0 to 1, written `20%` or `0.2`.
Parsed<double> parse_ratio(std::string_view);
/// Per second: `10/s`, `0.5/s`; 0 needs no unit.
Parsed<double> parse_rate(std::string_view);
/// `true` or `false`, nothing else.
Parsed<bool> parse_boolean(std::string_view);
/// Decimal digits without sign and leading zeros.
Parsed<std::uint64_t> parse_whole(std::string_view);
/// Decimal digits, at most one point with digits on both sides.
Parsed<double> parse_number(std::string_view);

/// `503`, `500-599` or `5xx`, from 200 to 999: an interim response (1xx) is never the last one.
Parsed<StatusRange> parse_statuses(std::string_view);

/// The shortest text that parses to the same value.
std::string duration_text(Duration);
std::string size_text(std::uint64_t bytes);
std::string ratio_text(double);
std::string rate_text(double);
std::string number_text(double);

}  // namespace reprise::config
