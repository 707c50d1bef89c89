// Text made safe for logs and JSON: whatever a client sent,
// a line stays one line and a terminal stays as it was.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/policy/decision/outcome.hpp"

namespace reprise::telemetry {

/// The most bytes of one client-controlled value that a log line shows.
inline constexpr std::size_t value_limit = 256;

/// The first `value_limit` bytes at most, never ending inside a UTF-8 sequence. A view into `value`.
std::string_view clipped(std::string_view value);

/// Whether every byte stands for itself in a JSON string, and is seen.
bool is_plain_json(std::string_view value);
/// What stands for `value` between the quotes of a JSON string (RFC 8259 section 7).
/// Control characters (C1 controls too) and what hides or reorders text become \uXXXX; each
/// byte that is no UTF-8 becomes \ufffd.
std::string escaped_json(std::string_view value);
/// Text of several lines for a terminal: line ends, tabs, quotes and backslashes stay, everything else is as
/// in `escaped_json`. For what another process has sent.
std::string for_terminal(std::string_view text);

/// Appends `value` as a JSON string with its quotes. Here and below `Out` is a string or a Line.
template <typename Out>
void append_json(Out& out, std::string_view value) {
  out += '"';
  if (is_plain_json(value)) {
    out += value;
  } else {
    out += escaped_json(value);
  }
  out += '"';
}

/// The same for a terminal: no quotes are put around it, and quotes and backslashes stay as they are.
void append_visible(std::string& out, std::string_view value);

template <typename Out>
void append_number(Out& out, std::uint64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}
template <typename Out>
void append_number(Out& out, std::int64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}

/// Milliseconds with three decimals; a negative span is 0.
template <typename Out>
void append_milliseconds(Out& out, policy::Duration span) {
  const auto microseconds =
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(span).count());
  append_number(out, microseconds / 1000);
  const auto rest = static_cast<unsigned>(microseconds % 1000);
  const char digits[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                         static_cast<char>('0' + rest % 10)};
  out.append(digits, sizeof digits);
}

/// Seconds with six decimals; a negative span is 0.
template <typename Out>
void append_seconds(Out& out, policy::Duration span) {
  const auto microseconds =
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(span).count());
  append_number(out, microseconds / 1'000'000);
  constexpr std::size_t decimals = 6;
  char digits[decimals + 1] = {'.'};
  auto rest = static_cast<unsigned>(microseconds % 1'000'000);
  for (std::size_t i = decimals; i > 0; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
  out.append(digits, sizeof digits);
}

}  // namespace reprise::telemetry
