#include "proxy/tools/top/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::tools {
namespace {

struct Glyph {
  std::size_t bytes = 1;
  char32_t code = 0;
};

// Decodes the character at `at`. Precondition: `text` is valid UTF-8, as append_visible returns it.
Glyph glyph_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = std::min<std::size_t>(lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2, text.size() - at);
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i)
    code = (code << 6U) | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
  return {bytes, code};
}

int columns_of(char32_t code, const Charset& charset) {
  if (code < 0x80) return 1;
  return charset.columns == nullptr ? 1 : charset.columns(code);
}

struct Beginning {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

// Returns the longest prefix that fits into `columns`, including the combining marks of its last character.
Beginning beginning(std::string_view text, std::size_t columns, const Charset& charset) {
  Beginning taken;
  while (taken.bytes < text.size()) {
    const Glyph glyph = glyph_at(text, taken.bytes);
    const auto wide = static_cast<std::size_t>(std::max(0, columns_of(glyph.code, charset)));
    if (taken.columns + wide > columns) break;
    taken.bytes += glyph.bytes;
    taken.columns += wide;
  }
  return taken;
}

std::string_view ellipsis(const Charset& charset) {
  return charset.utf8 && columns_of(U'…', charset) == 1 ? "…" : "~";
}

}  // namespace

std::string shown(std::string_view text, const Charset& charset) {
  std::string visible;
  telemetry::append_visible(visible, text);
  std::string out;
  for (std::size_t at = 0; at < visible.size();) {
    const Glyph glyph = glyph_at(visible, at);
    const int columns = charset.utf8 || glyph.code < 0x80 ? columns_of(glyph.code, charset) : -1;
    // A combining mark at the beginning of the text is escaped, because in a table the mark would change the
    // last character of the previous cell.
    if (columns < 0 || (columns == 0 && at == 0)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(glyph.code));
    } else {
      out += visible.substr(at, glyph.bytes);
    }
    at += glyph.bytes;
  }
  return out;
}

std::size_t columns_of(std::string_view text, const Charset& charset) {
  return beginning(text, static_cast<std::size_t>(-1) / 2, charset).columns;
}

std::string cut(std::string_view text, std::size_t columns, const Charset& charset) {
  const Beginning whole = beginning(text, columns, charset);
  if (whole.bytes == text.size()) return std::string(text);
  if (columns == 0) return {};
  return std::string(text.substr(0, beginning(text, columns - 1, charset).bytes)) +
         std::string(ellipsis(charset));
}

std::string padded(std::string_view text, std::size_t columns, const Charset& charset) {
  std::string out = cut(text, columns, charset);
  return out.append(columns - columns_of(out, charset), ' ');
}

std::string padded_left(std::string_view text, std::size_t columns, const Charset& charset) {
  const std::string fitting = cut(text, columns, charset);
  return std::string(columns - columns_of(fitting, charset), ' ') + fitting;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns, const Charset& charset) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    Beginning line = beginning(text, columns, charset);
    // Takes at least one character per line, so that the loop ends.
    if (line.bytes == 0) line.bytes = glyph_at(text, 0).bytes;
    if (line.bytes < text.size() && text[line.bytes] != ' ') {
      const std::size_t blank = text.substr(0, line.bytes).rfind(' ');
      if (blank != std::string_view::npos && blank > 0) line.bytes = blank;
    }
    lines.emplace_back(text.substr(0, line.bytes));
    text.remove_prefix(line.bytes);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  return lines;
}

std::string count_text(double count) {
  constexpr const char* units[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (count >= (unit == 0 ? 99'999.5 : 999.95) && unit + 1 < std::size(units)) {
    count /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f}", count) : fmt::format("{:.1f}{}", count, units[unit]);
}

std::string rate_text(double a_second) {
  return a_second < 999.95 ? fmt::format("{:.1f}", a_second) : count_text(a_second);
}

std::string share_text(double share) {
  if (share >= 1) return "100%";
  // The added 1e-6 corrects fractions without an exact binary form, which could otherwise be rounded down too
  // far.
  return fmt::format("{:.1f}%", std::floor(share * 1000 + 1e-6) / 10);
}

std::string seconds_text(double seconds) {
  if (seconds < 0.00995) return fmt::format("{:.1f}ms", seconds * 1000);
  if (seconds < 0.9995) return fmt::format("{:.0f}ms", seconds * 1000);
  if (seconds < 9.995) return fmt::format("{:.2f}s", seconds);
  if (seconds < 59.95) return fmt::format("{:.1f}s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(std::min(seconds, 1e9)));
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

std::string age_text(std::int64_t seconds) {
  seconds = std::max<std::int64_t>(0, seconds);
  const std::int64_t days = seconds / 86400;
  if (days > 0) return fmt::format("{}d {:02}:{:02}", days, seconds / 3600 % 24, seconds / 60 % 60);
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace reprise::tools
