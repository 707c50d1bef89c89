// Text measured in columns of a terminal, and figures as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::tools {

/// What the terminal shows as it is.
struct Charset {
  bool utf8 = false;  ///< else ASCII alone
  /// Of one character: 0 to 2, negative where it cannot be shown. As wcwidth(3) of the terminal's locale has
  /// it; null: 1 each.
  int (*columns)(char32_t) = nullptr;
};

/// Whatever it holds, as text that neither steers a terminal nor is broader than it is taken for: controls,
/// marks that hide or reorder text, and what the charset cannot show become \uXXXX. `text` is UTF-8.
std::string shown(std::string_view text, const Charset&);

/// The functions below take text as `shown` gives it.
std::size_t columns_of(std::string_view text, const Charset&);
/// The beginning, ended by a mark where something is cut off: at most so many columns.
std::string cut(std::string_view text, std::size_t columns, const Charset&);
/// Exactly so many columns.
std::string padded(std::string_view text, std::size_t columns, const Charset&);
std::string padded_left(std::string_view text, std::size_t columns, const Charset&);
/// Broken at blanks into lines of at most so many columns; a word that is longer is broken, too.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns, const Charset&);

/// `1234`, `56.7k`, `1.2M`: five columns at most, up to 10^14.
std::string count_text(double);
/// `0.0`, `12.3`, then as count_text.
std::string rate_text(double a_second);
/// `100%`, `99.3%`; rounded down, so that only all is 100.
std::string share_text(double);
/// `0.8ms`, `45ms`, `1.25s`, `3m05s`.
std::string seconds_text(double);
/// `2d 03:04`, `03:04:05`.
std::string age_text(std::int64_t seconds);

}  // namespace reprise::tools
