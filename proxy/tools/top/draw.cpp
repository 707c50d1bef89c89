#include "proxy/tools/top/draw.hpp"

#include <algorithm>

#include "proxy/tools/top/pages.hpp"

namespace reprise::tools {
namespace {

// The keys that matter most come first: what has no room is in the page of help.
Line foot(Page page, const Look& look) {
  std::vector<std::string_view> keys{"q quit", "? help", "Esc back", "j/k or arrows scroll", "p pause"};
  if (page == Page::routes)
    keys = {"q quit",     "? help",    "j/k or arrows choose", "Enter its stories",
            "s/0-9 sort", "r reverse", "u upstreams",          "p pause"};
  if (page == Page::stories)
    keys = {"q quit", "? help", "Esc back", "j/k or arrows choose", "Enter all of it", "p pause"};
  std::vector<Line> items;
  items.reserve(keys.size());
  for (const std::string_view key : keys) items.emplace_back(std::string(key), Style::faint);
  return fitting(std::move(items), look);
}

std::size_t columns_of(const Line& line, const Look& look) {
  std::size_t columns = 0;
  for (const Piece& piece : line.pieces) columns += columns_of(piece.text, look.charset);
  return columns;
}

void append_item(Line& line, Line item) {
  if (!line.pieces.empty()) line.add("  ");
  line.pieces.insert(line.pieces.end(), std::make_move_iterator(item.pieces.begin()),
                     std::make_move_iterator(item.pieces.end()));
}

std::vector<Line> broken(const Line& item, const Look& look) {
  std::string text;
  for (const Piece& piece : item.pieces) text += piece.text;
  std::vector<Line> lines;
  for (std::string& part : wrapped(text, look.columns, look.charset))
    lines.emplace_back(std::move(part), item.pieces.front().style);
  return lines;
}

std::vector<Line> body(const Watch& watch, const View& view, const Look& look, std::size_t rows) {
  if (view.page == Page::help) return help_page(view, look, rows);
  if (watch.empty()) return {};
  switch (view.page) {
    case Page::routes: return routes_page(watch, view, look, rows);
    case Page::stories: return stories_page(watch, view, look, rows);
    case Page::story: return story_page(watch, view, look, rows);
    case Page::upstreams: return upstreams_page(watch, view, look, rows);
    case Page::help: break;
  }
  return {};
}

// Cut to the terminal; a chosen line is shown in its whole breadth.
Line fitted(Line line, const Look& look) {
  std::size_t room = look.columns;
  for (Piece& piece : line.pieces) {
    piece.text = cut(piece.text, room, look.charset);
    room -= columns_of(piece.text, look.charset);
  }
  if (line.chosen && room > 0) line.add(std::string(room, ' '));
  return line;
}

}  // namespace

void append(std::vector<Line>& lines, std::vector<Line> more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Line> flowed(std::vector<Line> items, const Look& look) {
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

Line fitting(std::vector<Line> items, const Look& look) {
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

void append_row(std::vector<Line>& lines, std::string_view heading, std::string_view text, const Look& look,
                Style style) {
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

Screen draw(const Watch& watch, const View& view, const Look& look) {
  Screen screen = head_lines(watch, view, look);
  const std::size_t below = look.rows > 2 ? 1 : 0;
  const std::size_t room = look.rows - std::min(look.rows, below);
  if (screen.size() > room) screen.resize(room);
  std::vector<Line> page = body(watch, view, look, room - screen.size());
  if (page.size() > room - screen.size()) page.resize(room - screen.size());
  screen.insert(screen.end(), std::make_move_iterator(page.begin()), std::make_move_iterator(page.end()));
  screen.resize(room);
  if (below > 0) screen.push_back(foot(view.page, look));
  for (Line& line : screen) line = fitted(std::move(line), look);
  return screen;
}

}  // namespace reprise::tools
