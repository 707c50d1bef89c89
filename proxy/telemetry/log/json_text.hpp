// Makes text from clients safe for logs and JSON: each value stays on its line and cannot send control
// sequences to a terminal.
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

/// Maximum number of bytes of one client-controlled value that a log line shows.
inline constexpr std::size_t value_limit = 256;

/// Returns at most the first `value_limit` bytes, cut between UTF-8 sequences. The result is a view into
/// `value`.
std::string_view clipped(std::string_view value);

/// Returns true if every byte is a visible ASCII character that a JSON string can contain without an escape.
bool is_plain_json(std::string_view value);
/// Returns `value` as it must be written between the quotes of a JSON string (RFC 8259 section 7). Control
/// characters (C1 controls too) and characters that hide or reorder text become \uXXXX. Each byte that is not
/// valid UTF-8 becomes \ufffd.
std::string escaped_json(std::string_view value);
/// Escapes text of several lines for a terminal. Line ends, tabs, quotes and backslashes stay unchanged;
/// everything else is treated as in `escaped_json`. Used for text that another process sent.
std::string for_terminal(std::string_view text);

/// Appends `value` as a JSON string with its quotes. `Out` is a string or a Line.
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

/// Appends `value` for a terminal: escaped like a JSON string, but without quotes around it, and with quotes
/// and backslashes unchanged.
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

/// Appends milliseconds with three decimals. A negative span is written as 0.
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

/// Appends seconds with six decimals. A negative span is written as 0.
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
