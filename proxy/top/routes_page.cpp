// The first page: the table of routes, upstreams in trouble,
// and the last requests that were retried or refused.
#include <fmt/format.h>

#include <algorithm>

#include "proxy/top/bar.hpp"
#include "proxy/top/columns.hpp"
#include "proxy/top/pages.hpp"

namespace reprise::top {
namespace {

Line table_heading(const TableShape& shape, const View& view, const Look& look, std::string_view names) {
  Line line;
  for (const Column column : shape.columns) {
    const ColumnOutline& outline = outline_of(column);
    const bool sorted = column == view.sorted_by;
    const bool rising = (column == Column::route) != view.reversed;
    const std::string mark = !sorted ? " " : rising ? "^" : "v";
    if (column == Column::route) {
      line.add(mark + padded(names, shape.route, look.charset), Style::heading);
    } else {
      line.add(" " + padded_left(mark + std::string(outline.heading), outline.width + 1, look.charset),
               Style::heading);
    }
  }
  if (shape.reasons > 0) line.add("  BY REASON", Style::heading);
  return line;
}

// Green and red are for what is plainly right or wrong.
Style style_of(Column column, const RouteFigures& route) {
  if (column == Column::success && route.success)
    return *route.success >= 1 ? Style::good : *route.success >= 0.95 ? Style::warning : Style::bad;
  if (column == Column::route && route.mode != "active" && !route.mode.empty()) return Style::faint;
  return Style::plain;
}

Line table_row(const RouteFigures& route, const TableShape& shape, bool chosen, const Look& look) {
  Line line;
  for (const Column column : shape.columns) {
    const ColumnOutline& outline = outline_of(column);
    if (column == Column::route) {
      line.add((chosen ? ">" : " ") + padded(route.name, shape.route, look.charset), style_of(column, route));
    } else {
      line.add("  " + padded_left(outline.text(route), outline.width, look.charset), style_of(column, route));
    }
  }
  if (shape.reasons > 0) line.add("  " + cut(reasons_text(route.total.refused), shape.reasons, look.charset));
  line.chosen = chosen;
  return line;
}

struct Table {
  std::vector<Line> lines;
  const RouteFigures* chosen = nullptr;
};

Table table_of(const std::vector<RouteFigures>& routes, const View& view, const Look& look,
               std::size_t rows) {
  std::size_t longest = 0;
  for (const RouteFigures& route : routes) longest = std::max(longest, columns_of(route.name, look.charset));
  const TableShape shape = shape_for(look.columns, longest);
  Table table;
  const std::size_t place = place_in(routes, [&](const RouteFigures& one) { return one.name == view.route; });
  const std::size_t shown_rows = rows > 1 ? rows - 1 : 1;
  // Where there are more than are seen, its place is told.
  const std::string names = routes.size() > shown_rows ? fmt::format("{}/{}", place + 1, routes.size())
                                                       : std::string(outline_of(Column::route).heading);
  table.lines.push_back(table_heading(shape, view, look, names));
  const std::size_t from = page_of(place, shown_rows);
  for (std::size_t i = from; i < std::min(routes.size(), from + shown_rows); ++i)
    table.lines.push_back(table_row(routes[i], shape, i == place, look));
  if (routes.empty()) table.lines.emplace_back(" no routes", Style::faint);
  if (place < routes.size()) table.chosen = &routes[place];
  return table;
}

Line about(const RouteFigures& route) {
  Line line(" " + route.name, Style::strong);
  line.add(fmt::format(": {} requests", route.total.requests));
  if (!route.mode.empty()) line.add(", mode " + route.mode);
  return line.add(", refused: " + reasons_text(route.total.refused));
}

std::vector<Line> upstreams_in_trouble(const Watch& watch, const Look& look, std::size_t rows) {
  std::vector<Line> lines;
  for (const UpstreamReading& upstream : watch.status().upstreams) {
    if (!is_worth_telling(upstream)) continue;
    if (lines.empty()) lines.emplace_back(" UPSTREAMS WITH BUDGET, CIRCUIT OR PAUSE", Style::heading);
    Line line(" " + padded(upstream.name, std::min<std::size_t>(32, look.columns / 3), look.charset));
    if (upstream.budget_left)
      line.add(fmt::format("  {} {:>4.0f}% of its budget left", gauge_of(*upstream.budget_left, 12),
                           100 * *upstream.budget_left),
               *upstream.budget_left < 0.25 ? Style::bad : Style::plain);
    if (!upstream.circuit.empty()) line.add("  circuit " + upstream.circuit, Style::bad);
    if (upstream.pause_seconds)
      line.add("  paused for " + seconds_text(*upstream.pause_seconds), Style::warning);
    lines.push_back(std::move(line));
  }
  if (lines.size() > rows) {
    const std::size_t left = lines.size() - rows + 1;
    lines.resize(rows);
    if (rows > 1) lines.back() = Line(fmt::format(" and {} more: u", left), Style::faint);
  }
  return lines;
}

std::vector<Line> last_stories(const Watch& watch, const Look& look, std::size_t rows) {
  constexpr std::size_t indent = 10, most_lines = 4;
  std::vector<Line> lines;
  if (rows < 2) return lines;
  lines.emplace_back(" LAST RETRIED OR REFUSED", Style::heading);
  for (const StoryReading& story : watch.stories()) {
    if (!is_worth_telling(story)) continue;
    if (lines.size() + 2 > rows) break;
    lines.push_back(story_row(story, true, look));
    auto why = wrapped(reason_text(story), look.columns > indent ? look.columns - indent : 1, look.charset);
    if (why.size() > most_lines) {
      why.resize(most_lines);
      why.back() += " ...";
    }
    for (std::string& part : why)
      if (lines.size() < rows) lines.emplace_back(std::string(indent, ' ') + std::move(part), Style::faint);
  }
  if (lines.size() == 1) lines.emplace_back(" none is known", Style::faint);
  return lines;
}

void append_block(std::vector<Line>& lines, std::vector<Line> block) {
  if (block.empty()) return;
  lines.emplace_back();
  lines.insert(lines.end(), std::make_move_iterator(block.begin()), std::make_move_iterator(block.end()));
}

}  // namespace

std::vector<Line> routes_page(const Watch& watch, const View& view, const Look& look, std::size_t rows) {
  const auto routes = sorted_routes(watch, view);
  constexpr std::size_t least_for_more = 10;
  if (rows < least_for_more) return table_of(routes, view, look, rows).lines;
  // The table has what it needs, up to half; the blocks below share the rest.
  const std::size_t wanted = routes.size() + 1;
  const std::size_t given = std::max<std::size_t>(4, std::min(wanted, rows / 2));
  std::vector<Line> troubled =
      upstreams_in_trouble(watch, look, std::max<std::size_t>(2, (rows - given) / 3));
  const std::size_t below = troubled.empty() ? 0 : troubled.size() + 1;
  const std::size_t used = given + 2 + below;
  std::vector<Line> stories = last_stories(watch, look, rows > used ? rows - used - 1 : 0);
  // What stories leave, routes may have.
  const std::size_t told = stories.empty() ? 0 : stories.size() + 1;
  const std::size_t left = rows - std::min(rows, 2 + below + told);
  Table table = table_of(routes, view, look, std::max(given, std::min(wanted, left)));
  std::vector<Line> lines = std::move(table.lines);
  if (table.chosen != nullptr) append_block(lines, {about(*table.chosen)});
  append_block(lines, std::move(troubled));
  append_block(lines, std::move(stories));
  return lines;
}

}  // namespace reprise::top
