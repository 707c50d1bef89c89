#include "proxy/tools/top/help_page.hpp"

#include <fmt/format.h>

#include "proxy/tools/top/bar.hpp"
#include "proxy/tools/top/columns.hpp"
#include "proxy/tools/top/layout.hpp"

namespace reprise::tools {
namespace {

struct Explained {
  std::string_view keys;
  std::string_view what;
};

constexpr Explained keys[] = {
    {"j k, arrows", "select a route or a request, or scroll"},
    {"space b", "next page, previous page (Page Down, Page Up); g, G: first, last"},
    {"Enter", "last retried or refused requests of the selected route; then details of one request"},
    {"Esc", "back"},
    {"1 to 9, s", "sort by the column with that number, or by the next column"},
    {"0", "the initial order; with more than twelve routes, most problems first"},
    {"r", "reverse the sort order"},
    {"u", "upstreams: circuits, pauses, budgets; the configuration and its last reload"},
    {"p", "pause or continue the updates"},
    {"q", "quit"},
};

}  // namespace

std::vector<Line> help_page(const View& view, const Display& display, std::size_t rows) {
  std::vector<Line> lines;
  for (const Explained& one : keys) append_row(lines, one.keys, one.what, display);
  lines.emplace_back();
  for (std::size_t i = 0; i < column_count; ++i) {
    const ColumnOutline& column = outline_of(static_cast<Column>(i));
    append_row(lines, fmt::format("{} {}", i + 1, column.heading), column.meaning, display);
  }
  append_row(lines, "", "Rates, OK, P50 and P99 cover the last ten readings.", display);
  lines.emplace_back();
  append_row(lines, "bars",
             fmt::format("a request from its head to its end: {} response delivered to the client, {} "
                         "response not delivered, {} failed attempt, {} wait, {} attempts not shown",
                         mark_of(DrawnResult::taken, display.charset),
                         mark_of(DrawnResult::refused, display.charset),
                         mark_of(DrawnResult::failed, display.charset), wait_mark(display.charset),
                         gap_mark(display.charset)),
             display);
  return scrolled_to(std::move(lines), view.scrolled, rows);
}

}  // namespace reprise::tools
