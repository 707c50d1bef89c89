#include "proxy/tools/top/layout.hpp"

#include <algorithm>
#include <iterator>

#include "proxy/tools/top/text.hpp"

namespace reprise::tools {
namespace {

std::size_t columns_of(const Line& line, const Display& look) {
  std::size_t columns = 0;
  for (const Piece& piece : line.pieces) columns += columns_of(piece.text, look.charset);
  return columns;
}

void append_item(Line& line, Line item) {
  if (!line.pieces.empty()) line.add("  ");
  line.pieces.insert(line.pieces.end(), std::make_move_iterator(item.pieces.begin()),
                     std::make_move_iterator(item.pieces.end()));
}

std::vector<Line> broken(const Line& item, const Display& look) {
  std::string text;
  for (const Piece& piece : item.pieces) text += piece.text;
  std::vector<Line> lines;
  for (std::string& part : wrapped(text, look.columns, look.charset))
    lines.emplace_back(std::move(part), item.pieces.front().style);
  return lines;
}

}  // namespace

void append(std::vector<Line>& lines, std::vector<Line> more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Line> flowed(std::vector<Line> items, const Display& look) {
  std::vector<Line> lines;
  std::size_t used = 0;
  for (Line& item : items) {
    const std::size_t width = columns_of(item, look);
    if (width > look.columns) {
      for (Line& part : broken(item, look)) lines.push_back(std::move(part));
      used = columns_of(lines.back(), look);
      continue;
    }
    if (lines.empty() || used + 2 + width > look.columns) {
      lines.emplace_back();
      used = 0;
    }
    used += width + (used > 0 ? 2 : 0);
    append_item(lines.back(), std::move(item));
  }
  return lines;
}

Line fitting(std::vector<Line> items, const Display& look) {
  Line line;
  std::size_t used = 0;
  for (Line& item : items) {
    const std::size_t more = columns_of(item, look) + (used > 0 ? 2 : 0);
    if (used > 0 && used + more > look.columns) break;
    used += more;
    append_item(line, std::move(item));
  }
  return line;
}

void append_row(std::vector<Line>& lines, std::string_view heading, std::string_view text,
                const Display& look, Style style) {
  constexpr std::size_t beside = 12;
  const bool narrow = look.columns < 4 * beside;
  const std::size_t indent = narrow ? 2 : beside;
  if (narrow) lines.emplace_back(std::string(heading), Style::strong);
  bool first = true;
  for (std::string& part : wrapped(text, look.columns > indent ? look.columns - indent : 1, look.charset)) {
    Line line(narrow || !first ? std::string(indent, ' ') : padded(heading, indent, look.charset),
              Style::strong);
    lines.push_back(std::move(line.add(std::move(part), style)));
    first = false;
  }
}

std::vector<Line> scrolled_to(std::vector<Line> lines, std::size_t from, std::size_t rows) {
  const std::size_t last = lines.size() > rows ? lines.size() - rows : 0;
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(std::min(from, last)));
  if (lines.size() > rows) lines.resize(rows);
  return lines;
}

std::size_t page_of(std::size_t place, std::size_t rows) { return rows == 0 ? place : place / rows * rows; }

}  // namespace reprise::tools
