#include "proxy/tools/top/screen.hpp"

namespace reprise::tools {
namespace {

// Returns the escape sequence of a style (select graphic rendition, ECMA-48 8.3.117).
std::string_view rendition(Style style, bool colour) {
  switch (style) {
    case Style::plain: break;
    case Style::strong: return "1";
    case Style::faint: return "2";
    case Style::heading: return colour ? "1;36" : "1";
    case Style::good: return colour ? "32" : "";
    case Style::warning: return colour ? "33" : "";
    case Style::bad: return colour ? "1;31" : "1";
  }
  return "";
}

void append(std::string& out, const Line& line, bool colour) {
  for (const Piece& piece : line.pieces) {
    std::string how = line.chosen ? "7" : "";
    // A line in reverse video has no colours, because coloured text would be hard to read there.
    const std::string_view style = rendition(piece.style, colour && !line.chosen);
    if (!style.empty()) how.append(how.empty() ? "" : ";").append(style);
    if (!how.empty()) out.append("\x1b[").append(how).append("m");
    out += piece.text;
    if (!how.empty()) out += "\x1b[0m";
  }
}

}  // namespace

std::string text_of(const Screen& screen) {
  std::string out;
  for (const Line& line : screen) {
    std::string text;
    for (const Piece& piece : line.pieces) text += piece.text;
    text.erase(text.find_last_not_of(' ') + 1);
    out.append(text).append("\n");
  }
  return out;
}

std::string bytes_of(const Screen& screen, bool colour) {
  std::string out = "\x1b[?2026h\x1b[H";
  // Terminals with synchronized output (mode 2026) show the whole screen at once; other terminals ignore the
  // mode. Erases each line before writing it, not after. After a line as wide as the terminal, the cursor is
  // on the last character, and erasing would remove this character (ECMA-48 8.3.41).
  for (std::size_t i = 0; i < screen.size(); ++i) {
    if (i > 0) out += "\r\n";
    out += i + 1 < screen.size() ? "\x1b[K" : "\x1b[J";
    append(out, screen[i], colour);
  }
  return out += "\x1b[?2026l";
}

}  // namespace reprise::tools
