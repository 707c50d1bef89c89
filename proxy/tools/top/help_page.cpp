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
    {"j k, arrows", "choose a route or a request, or scroll"},
    {"space b", "a page on, a page back (Page Down, Page Up); g and G: the first, the last"},
    {"Enter", "the chosen route's last retried or refused requests, then one of them in full"},
    {"Esc", "back"},
    {"1 to 9, s", "sort by that column, by the next one"},
    {"0", "more than twelve routes: the most trouble first, as at the start"},
    {"r", "sort the other way round"},
    {"u", "upstreams: circuits, pauses, budgets; the configuration and its last reload"},
    {"p", "pause: nothing is asked, figures stay"},
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
  append_row(lines, "", "Per second, OK, P50 and P99 are of the last ten readings.", display);
  lines.emplace_back();
  append_row(lines, "bars",
             fmt::format(
                 "a request from its head to its end: {} a response that the client got, {} a response that "
                 "was not the one, "
                 "{} an attempt that failed, {} a wait, {} attempts that are not told",
                 mark_of(DrawnResult::taken, display.charset), mark_of(DrawnResult::refused, display.charset),
                 mark_of(DrawnResult::failed, display.charset), wait_mark(display.charset),
                 gap_mark(display.charset)),
             display);
  return scrolled_to(std::move(lines), view.scrolled, rows);
}

}  // namespace reprise::tools
