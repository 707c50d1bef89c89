// What somebody looks at, and how each key changes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/policy/match/enumerators.hpp"
#include "proxy/tools/top/keys.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

/// The terminal, and what is the same on every page.
struct Look {
  std::size_t columns = 80;
  std::size_t rows = 24;
  Charset charset;
  std::string where;     ///< the admin listener, host:port
  std::string interval;  ///< between two readings, in words
  double now = 0;        ///< on the clock of Watch
};

enum class Page : std::uint8_t { routes, stories, story, upstreams, help };

/// In the order of the table and of the keys 1 to 9.
enum class Column : std::uint8_t { route, rate, success, retries, recovered, refused, exhausted, p50, p99 };
inline constexpr std::size_t column_count = policy::count_of<Column>;

/// A value; the first one is what is shown at start.
struct View {
  Page page = Page::routes;
  Page back = Page::routes;  ///< where Escape leads from upstreams and help
  Column sorted_by = Column::rate;
  bool is_sorted = false;  ///< somebody has chosen the column
  bool reversed = false;
  std::string route;         ///< the chosen one; any other than those there are: the first
  std::string story;         ///< the same by id
  std::size_t scrolled = 0;  ///< lines, of a page of text
  bool paused = false;
  bool quits = false;
};

View pressed(View, const KeyPress&, const Watch&, const Look&);

/// Figures from the highest on, names from the first on; `reversed` turns that round. What is alike, and what
/// has no figure, keeps the order of the configuration, the latter at the end.
std::vector<RouteFigures> sorted_routes(const Watch&, const View&);
/// Many routes are told by their trouble until somebody chooses a column: the failed and the refused ones of
/// the window, then its retries, then those since the start.
bool is_by_trouble(std::size_t routes, const View&);
/// The newest first: those of the chosen route.
std::vector<StoryReading> stories_of_route(const Watch&, const View&);
/// The name that is chosen; empty where there are no routes.
std::string chosen_route(const Watch&, const View&);

/// Where an element is that `is_it`; 0 where there is none.
template <typename List, typename Predicate>
std::size_t place_in(const List& list, Predicate is_it) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (is_it(list[i])) return i;
  return 0;
}

}  // namespace reprise::tools
