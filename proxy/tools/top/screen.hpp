// A screen of text as a value, and the bytes that show it (ECMA-48).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::tools {

enum class Style : std::uint8_t { plain, strong, faint, heading, good, warning, bad };

struct Piece {
  std::string text;  ///< as `shown` gives it
  Style style = Style::plain;
};

struct Line {
  std::vector<Piece> pieces;
  bool chosen = false;  ///< shown reversed

  Line() = default;
  explicit Line(std::string text, Style style = Style::plain) { add(std::move(text), style); }
  Line& add(std::string text, Style style = Style::plain) {
    pieces.push_back({std::move(text), style});
    return *this;
  }
};

/// From the top. No more lines than the terminal has, and none broader.
using Screen = std::vector<Line>;

/// The text alone, each line without blanks at its end and with a line end.
std::string text_of(const Screen&);
/// What a terminal is sent: each line in its place, and nothing left of what was there. Without `colour`,
/// bold, faint and reversed are all there is.
std::string bytes_of(const Screen&, bool colour);

/// What is sent before the first screen, and after the last one: another screen than the shell's, no cursor,
/// no breaking of long lines.
inline constexpr std::string_view enter_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l";
inline constexpr std::string_view leave_screen = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

}  // namespace reprise::tools
