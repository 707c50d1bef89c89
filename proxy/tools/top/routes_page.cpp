#include "proxy/tools/top/routes_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proxy/tools/top/bar.hpp"
#include "proxy/tools/top/columns.hpp"
#include "proxy/tools/top/layout.hpp"
#include "proxy/tools/top/requests_page.hpp"
#include "proxy/tools/top/text.hpp"

namespace reprise::tools {
namespace {

Line table_heading(const TableShape& shape, const View& view, const Display& display, std::string_view names,
                   bool by_trouble) {
  Line line;
  for (const Column column : shape.columns) {
    const ColumnOutline& outline = outline_of(column);
    const bool sorted = column == view.sorted_by && !by_trouble;
    const bool rising = (column == Column::route) != view.reversed;
    const std::string mark = !sorted ? " " : rising ? "^" : "v";
    if (column == Column::route) {
      line.add(mark + padded(names, shape.route, display.charset), Style::heading);
    } else {
      line.add(" " + padded_left(mark + std::string(outline.heading), outline.width + 1, display.charset),
               Style::heading);
    }
  }
  if (shape.reasons > 0) line.add("  BY REASON", Style::heading);
  return line;
}

// Returns the style of a cell. The style of a success ratio depends on its value. The name of a route that is
// not active is faint.
Style style_of(Column column, const RouteFigures& route) {
  if (column == Column::success && route.success)
    return *route.success >= 1 ? Style::good : *route.success >= 0.95 ? Style::warning : Style::bad;
  if (column == Column::route && route.mode != "active" && !route.mode.empty()) return Style::faint;
  return Style::plain;
}

Line table_row(const RouteFigures& route, const TableShape& shape, bool chosen, const Display& display) {
  Line line;
  for (const Column column : shape.columns) {
    const ColumnOutline& outline = outline_of(column);
    if (column == Column::route) {
      line.add((chosen ? ">" : " ") + padded(route.name, shape.route, display.charset),
               style_of(column, route));
    } else {
      line.add("  " + padded_left(outline.text(route), outline.width, display.charset),
               style_of(column, route));
    }
  }
  if (shape.reasons > 0) line.add("  " + reasons_within(route.total.refused, shape.reasons));
  line.chosen = chosen;
  return line;
}

std::vector<Line> table_of(const std::vector<RouteFigures>& routes, const View& view, const Display& display,
                           std::size_t rows) {
  std::size_t longest = 0;
  for (const RouteFigures& route : routes)
    longest = std::max(longest, columns_of(route.name, display.charset));
  const TableShape shape = shape_for(display.columns, longest);
  std::vector<Line> lines;
  // If there are many routes and the user has not chosen a column, the routes with the most problems come
  // first.
  const bool by_trouble = is_by_trouble(routes.size(), view);
  if (by_trouble && rows > 3) {
    lines.emplace_back(" MOST PROBLEMS FIRST (1-9: by column)", Style::heading);
    --rows;
  }
  const std::size_t place = place_in(routes, [&](const RouteFigures& one) { return one.name == view.route; });
  const std::size_t shown_rows = rows > 1 ? rows - 1 : 1;
  // If not all routes fit, the heading shows the position of the selected route.
  const std::string names = routes.size() > shown_rows ? fmt::format("{}/{}", place + 1, routes.size())
                                                       : std::string(outline_of(Column::route).heading);
  lines.push_back(table_heading(shape, view, display, names, by_trouble));
  const std::size_t from = page_of(place, shown_rows);
  for (std::size_t i = from; i < std::min(routes.size(), from + shown_rows); ++i)
    lines.push_back(table_row(routes[i], shape, i == place, display));
  if (routes.empty()) lines.emplace_back(" no routes", Style::faint);
  return lines;
}

std::vector<Line> about(const RouteFigures& route, const Display& display) {
  std::string text =
      fmt::format(": {} request{}", route.total.requests, route.total.requests == 1 ? "" : "s");
  if (!route.mode.empty()) text += ", mode " + route.mode;
  text += ", refused: " + reasons_text(route.total.refused);
  Line line(" " + route.name, Style::strong);
  line.add(text);
  return flowed({std::move(line)}, display);
}

std::vector<Line> upstreams_in_trouble(const Watch& watch, const Display& display, std::size_t rows) {
  std::vector<Line> lines;
  std::size_t left_out = 0;
  for (const UpstreamReading& upstream : watch.status().upstreams) {
    if (!is_notable(upstream)) continue;
    if (lines.empty()) lines.emplace_back(" UPSTREAMS WITH BUDGET, CIRCUIT OR PAUSE", Style::heading);
    std::vector<Line> items{Line(" " + upstream.name)};
    if (upstream.budget_left)
      items.emplace_back(fmt::format("{} {:>4.0f}% of its budget left", gauge_of(*upstream.budget_left, 12),
                                     100 * *upstream.budget_left),
                         *upstream.budget_left < 0.25 ? Style::bad : Style::plain);
    if (!upstream.circuit.empty()) items.emplace_back("circuit " + upstream.circuit, Style::bad);
    if (upstream.pause_seconds)
      items.emplace_back("paused for " + seconds_text(*upstream.pause_seconds), Style::warning);
    std::vector<Line> one = flowed(std::move(items), display);
    // The last line is reserved for the number of upstreams that do not fit.
    if (lines.size() + one.size() + 1 > rows && lines.size() > 1) ++left_out;
    if (left_out == 0) append(lines, std::move(one));
  }
  if (left_out > 0) lines.emplace_back(fmt::format(" and {} more: press u", left_out), Style::faint);
  return lines;
}

std::vector<Line> last_requests(const Watch& watch, const Display& display, std::size_t rows) {
  constexpr std::size_t indent = 10;
  std::vector<Line> lines;
  if (rows < 2) return lines;
  lines.emplace_back(" LAST RETRIED OR REFUSED", Style::heading);
  for (const RequestReading& story : watch.stories()) {
    if (!is_notable(story)) continue;
    std::vector<Line> one = request_rows(story, true, display);
    for (std::string& part : wrapped(
             reason_text(story), display.columns > indent ? display.columns - indent : 1, display.charset))
      one.emplace_back(std::string(indent, ' ') + std::move(part), Style::faint);
    // A request is shown completely or not at all, except the first one, which may be cut.
    if (lines.size() + one.size() > rows && lines.size() > 1) break;
    append(lines, std::move(one));
    if (lines.size() > rows) lines.resize(rows);
  }
  if (lines.size() == 1) lines.emplace_back(" none in the history", Style::faint);
  return lines;
}

void append_block(std::vector<Line>& lines, std::vector<Line> block) {
  if (block.empty()) return;
  lines.emplace_back();
  lines.insert(lines.end(), std::make_move_iterator(block.begin()), std::make_move_iterator(block.end()));
}

}  // namespace

std::vector<Line> routes_page(const Watch& watch, const View& view, const Display& display,
                              std::size_t rows) {
  const auto routes = sorted_routes(watch, view);
  constexpr std::size_t least_for_more = 10;
  std::vector<Line> chosen;
  if (!routes.empty())
    chosen = about(routes[place_in(routes, [&](const RouteFigures& one) { return one.name == view.route; })],
                   display);
  if (rows < least_for_more) return table_of(routes, view, display, rows);
  // The table gets the rows that it needs, but at most half of the page. The blocks below the table share the
  // other rows.
  const std::size_t wanted = routes.size() + 1;
  const std::size_t given = std::max<std::size_t>(4, std::min(wanted, rows / 2));
  std::vector<Line> troubled =
      upstreams_in_trouble(watch, display, std::max<std::size_t>(2, (rows - given) / 3));
  const std::size_t below = troubled.empty() ? 0 : troubled.size() + 1;
  const std::size_t used = given + 1 + chosen.size() + below;
  std::vector<Line> stories = last_requests(watch, display, rows > used ? rows - used - 1 : 0);
  // The table also gets the rows that the blocks below it do not use.
  const std::size_t request_rows_used = stories.empty() ? 0 : stories.size() + 1;
  const std::size_t left = rows - std::min(rows, 1 + chosen.size() + below + request_rows_used);
  std::vector<Line> lines = table_of(routes, view, display, std::max(given, std::min(wanted, left)));
  append_block(lines, std::move(chosen));
  append_block(lines, std::move(troubled));
  append_block(lines, std::move(stories));
  return lines;
}

}  // namespace reprise::tools
