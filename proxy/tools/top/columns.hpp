// The columns of the table of routes: what each says of a route, and which of them a terminal has room for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/top/view.hpp"

namespace reprise::tools {

struct ColumnOutline {
  Column column;
  std::string_view heading;
  std::string_view meaning;  ///< for the page of help
  std::size_t width;         ///< of its text; a route's name takes what is there
  unsigned rank;             ///< the highest goes first where there is no room
  /// What it is sorted by; absent: it says nothing of that route.
  std::optional<double> (*figure)(const RouteFigures&);
  std::string (*text)(const RouteFigures&);
};

const ColumnOutline& outline_of(Column);

/// Which columns are shown, and how broad those two are that take what is there.
struct TableShape {
  std::vector<Column> columns;
  std::size_t route = 0;
  std::size_t reasons = 0;  ///< 0: there is no room for them
};
/// `longest`: columns of the longest name.
TableShape shape_for(std::size_t columns, std::size_t longest);

/// `not_idempotent 12, budget_spent 3`, the most frequent first; `-` where there are none.
std::string reasons_text(const CountsByWord& refused);
/// The most frequent ones that so many columns hold, none of them cut: `not_idempotent 12 +2`.
std::string reasons_within(const CountsByWord& refused, std::size_t columns);

}  // namespace reprise::tools
