// Measures text in terminal columns, and formats figures for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::tools {

/// The characters that the terminal can show.
struct Charset {
  bool utf8 = false;  ///< if false, only ASCII
  /// Returns the width of one character: 0 to 2, or negative if it cannot be shown, like wcwidth(3) in the
  /// terminal's locale. Null: every character is 1 wide.
  int (*columns)(char32_t) = nullptr;
};

/// Returns text that cannot steer a terminal and is as wide as measured. Controls, marks that hide or reorder
/// text, and characters outside the charset become \uXXXX. Precondition: `text` is UTF-8.
std::string shown(std::string_view text, const Charset&);

/// The functions below take text that `shown` returned.
std::size_t columns_of(std::string_view text, const Charset&);
/// Returns at most `columns` columns, with a mark at the end if something was cut off.
std::string cut(std::string_view text, std::size_t columns, const Charset&);
/// Return exactly `columns` columns.
std::string padded(std::string_view text, std::size_t columns, const Charset&);
std::string padded_left(std::string_view text, std::size_t columns, const Charset&);
/// Breaks text at blanks into lines of at most `columns`. A longer word is broken, too.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns, const Charset&);

/// Returns `1234`, `56.7k`, `1.2M`: at most five columns, up to 10^14.
std::string count_text(double);
/// Returns `0.0`, `12.3`, then the form of count_text.
std::string rate_text(double a_second);
/// Returns `100%`, `99.3%`. Rounds down, so that only 1 is 100%.
std::string share_text(double);
/// Returns `0.8ms`, `45ms`, `1.25s`, `3m05s`.
std::string seconds_text(double);
/// Returns `2d 03:04`, `03:04:05`.
std::string age_text(std::int64_t seconds);

}  // namespace reprise::tools
