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
  bool utf8 = false;  ///< true for UTF-8, false for ASCII
  /// Returns the width of a character: 0, 1 or 2, or a negative number if the character cannot be shown. The
  /// widths are those of wcwidth(3) in the terminal's locale. Null if every character has width 1.
  int (*columns)(char32_t) = nullptr;
};

/// Returns the text in a form that is safe to print and has exactly the width that `columns_of` returns.
/// Control characters, marks that hide or reorder text, and characters outside the charset are escaped as
/// \uXXXX. Precondition: `text` is UTF-8.
std::string shown(std::string_view text, const Charset&);

/// Returns the width of a text. Precondition: the text was returned by `shown`. The functions cut, padded,
/// padded_left and wrapped have the same precondition.
std::size_t columns_of(std::string_view text, const Charset&);
/// Returns the text, cut to at most `columns` columns. A text that was cut ends with a mark.
std::string cut(std::string_view text, std::size_t columns, const Charset&);
/// Returns the text, cut or filled with blanks to exactly `columns` columns. padded_left puts the blanks
/// before the text.
std::string padded(std::string_view text, std::size_t columns, const Charset&);
std::string padded_left(std::string_view text, std::size_t columns, const Charset&);
/// Breaks text at blanks into lines of at most `columns` columns. Also breaks a word that is longer than a
/// line.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns, const Charset&);

/// Formats a count, for example `1234`, `56.7k` or `1.2M`. For counts up to 10^14, the result has at most six
/// columns.
std::string count_text(double);
/// Formats a rate per second, for example `0.0` or `12.3`. Formats a large rate as count_text does.
std::string rate_text(double a_second);
/// Formats a fraction, for example `100%` or `99.3%`. Rounds down, so that only 1 gives 100%.
std::string share_text(double);
/// Formats a duration, for example `0.8ms`, `45ms`, `1.25s` or `3m05s`.
std::string seconds_text(double);
/// Formats a long duration, with days if there are any, for example `2d 03:04` or `03:04:05`.
std::string age_text(std::int64_t seconds);

}  // namespace reprise::tools
