// The user's current view, and how each key changes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/policy/match/enumerators.hpp"
#include "proxy/tools/top/keys.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

/// The terminal, and the data that is the same on every page.
struct Display {
  std::size_t columns = 80;
  std::size_t rows = 24;
  Charset charset;
  std::string where;     ///< host:port of the admin listener
  std::string interval;  ///< time between two readings, as text
  double now = 0;        ///< current time on the clock of Watch
};

enum class Page : std::uint8_t { routes, stories, story, upstreams, help };

/// The columns, in the order of the table and of the keys 1 to 9.
enum class Column : std::uint8_t { route, rate, success, retries, recovered, refused, exhausted, p50, p99 };
inline constexpr std::size_t column_count = policy::count_of<Column>;

/// The user's current view. A default-constructed View is the view at the start.
struct View {
  Page page = Page::routes;
  Page back = Page::routes;  ///< page to which Escape returns from the pages upstreams and help
  Column sorted_by = Column::rate;
  bool is_sorted = false;  ///< the user has chosen `sorted_by`
  bool reversed = false;
  std::string route;  ///< name of the selected route; if there is no such route, the first one is selected
  std::string story;  ///< id of the selected request; if there is no such request, the first one is selected
  std::size_t scrolled = 0;  ///< number of lines by which a page of text is scrolled
  bool paused = false;
  bool quits = false;
};

View pressed(View, const KeyPress&, const Watch&, const Display&);

/// Returns the routes in the order that the view selects. Sorts figures from highest to lowest and names from
/// first to last; `reversed` inverts the order. Equal routes keep the order of the configuration. Routes
/// without a figure come last.
std::vector<RouteFigures> sorted_routes(const Watch&, const View&);
/// Returns true if the routes are sorted by `RouteFigures::trouble`. This is the case if there are many
/// routes and the user has not chosen a column.
bool is_by_trouble(std::size_t routes, const View&);
/// Returns the requests of the selected route, newest first.
std::vector<RequestReading> requests_of_route(const Watch&, const View&);
/// Returns the name of the selected route; empty if there are no routes.
std::string chosen_route(const Watch&, const View&);

/// Returns the index of the first element for which `is_it` is true; 0 if there is none.
template <typename List, typename Predicate>
std::size_t place_in(const List& list, Predicate is_it) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (is_it(list[i])) return i;
  return 0;
}

}  // namespace reprise::tools
