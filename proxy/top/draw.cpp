#include "proxy/top/draw.hpp"

#include <algorithm>

#include "proxy/top/pages.hpp"

namespace reprise::top {
namespace {

std::string_view foot_text(Page page) {
  switch (page) {
    case Page::routes:
      return "q quit  ? help  j/k or arrows choose  Enter its stories  s/1-9 sort  r reverse  u upstreams  p "
             "pause";
    case Page::stories: return "q quit  ? help  Esc back  j/k or arrows choose  Enter all of it  p pause";
    case Page::story:
    case Page::upstreams:
    case Page::help: break;
  }
  return "q quit  ? help  Esc back  j/k or arrows scroll  p pause";
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
  const std::size_t foot = look.rows > 2 ? 1 : 0;
  const std::size_t room = look.rows - std::min(look.rows, foot);
  if (screen.size() > room) screen.resize(room);
  std::vector<Line> page = body(watch, view, look, room - screen.size());
  if (page.size() > room - screen.size()) page.resize(room - screen.size());
  screen.insert(screen.end(), std::make_move_iterator(page.begin()), std::make_move_iterator(page.end()));
  screen.resize(room);
  if (foot > 0) screen.emplace_back(std::string(foot_text(view.page)), Style::faint);
  for (Line& line : screen) line = fitted(std::move(line), look);
  return screen;
}

}  // namespace reprise::top
