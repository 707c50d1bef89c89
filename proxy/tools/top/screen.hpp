// A screen of text as a value, and the bytes that show it (ECMA-48).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::tools {

enum class Style : std::uint8_t { plain, strong, faint, heading, good, warning, bad };

struct Piece {
  std::string text;  ///< text that `shown` has converted
  Style style = Style::plain;
};

struct Line {
  std::vector<Piece> pieces;
  bool chosen = false;  ///< the line is selected and shown in reverse video

  Line() = default;
  explicit Line(std::string text, Style style = Style::plain) { add(std::move(text), style); }
  Line& add(std::string text, Style style = Style::plain) {
    pieces.push_back({std::move(text), style});
    return *this;
  }
};

/// The lines of a screen, from top to bottom. Precondition: there are at most as many lines as the terminal
/// has rows, and no line is wider than the terminal.
using Screen = std::vector<Line>;

/// Returns the text without styles. Each line ends with a newline and has no trailing blanks.
std::string text_of(const Screen&);
/// Returns the bytes that draw the screen over its previous content. Without `colour`, the only styles are
/// bold, faint and reversed.
std::string bytes_of(const Screen&, bool colour);

/// Bytes to send before the first screen and after the last screen. `enter_screen` selects the alternate
/// screen, hides the cursor and turns line wrap off; `leave_screen` undoes this.
inline constexpr std::string_view enter_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l";
inline constexpr std::string_view leave_screen = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

}  // namespace reprise::tools
