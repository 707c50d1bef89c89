#include "proxy/tools/top/draw.hpp"

#include <algorithm>

#include "proxy/tools/top/head.hpp"
#include "proxy/tools/top/help_page.hpp"
#include "proxy/tools/top/layout.hpp"
#include "proxy/tools/top/requests_page.hpp"
#include "proxy/tools/top/routes_page.hpp"
#include "proxy/tools/top/text.hpp"
#include "proxy/tools/top/upstreams_page.hpp"

namespace reprise::tools {
namespace {

// Returns the last line of the screen, which lists the keys of the page, the most important first. Keys that
// do not fit are listed only on the help page.
Line foot(Page page, const Display& display) {
  std::vector<std::string_view> keys{"q quit", "? help", "Esc back", "j/k or arrows scroll", "p pause"};
  if (page == Page::routes)
    keys = {"q quit",     "? help",    "j/k or arrows choose", "Enter its requests",
            "s/0-9 sort", "r reverse", "u upstreams",          "p pause"};
  if (page == Page::stories)
    keys = {"q quit", "? help", "Esc back", "j/k or arrows choose", "Enter details", "p pause"};
  std::vector<Line> items;
  items.reserve(keys.size());
  for (const std::string_view key : keys) items.emplace_back(std::string(key), Style::faint);
  return fitting(std::move(items), display);
}

std::vector<Line> body(const Watch& watch, const View& view, const Display& display, std::size_t rows) {
  if (view.page == Page::help) return help_page(view, display, rows);
  if (watch.empty()) return {};
  switch (view.page) {
    case Page::routes: return routes_page(watch, view, display, rows);
    case Page::stories: return requests_page(watch, view, display, rows);
    case Page::story: return request_page(watch, view, display, rows);
    case Page::upstreams: return upstreams_page(watch, view, display, rows);
    case Page::help: break;
  }
  return {};
}

// Cuts the line to the width of the terminal. A selected line is filled to the full width.
Line fitted(Line line, const Display& display) {
  std::size_t room = display.columns;
  for (Piece& piece : line.pieces) {
    piece.text = cut(piece.text, room, display.charset);
    room -= columns_of(piece.text, display.charset);
  }
  if (line.chosen && room > 0) line.add(std::string(room, ' '));
  return line;
}

}  // namespace

Screen draw(const Watch& watch, const View& view, const Display& display) {
  Screen screen = head_lines(watch, view, display);
  const std::size_t below = display.rows > 2 ? 1 : 0;
  const std::size_t room = display.rows - std::min(display.rows, below);
  if (screen.size() > room) screen.resize(room);
  std::vector<Line> page = body(watch, view, display, room - screen.size());
  if (page.size() > room - screen.size()) page.resize(room - screen.size());
  screen.insert(screen.end(), std::make_move_iterator(page.begin()), std::make_move_iterator(page.end()));
  screen.resize(room);
  if (below > 0) screen.push_back(foot(view.page, display));
  for (Line& line : screen) line = fitted(std::move(line), display);
  return screen;
}

}  // namespace reprise::tools
