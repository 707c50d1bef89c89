// The columns of the table of routes, and which of them a terminal has room for.
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
  std::string_view meaning;  ///< for the help page
  std::size_t width;         ///< columns of its text; the route's name takes the room that is left
  unsigned rank;             ///< if there is no room, the column with the highest rank is left out first
  /// Returns the sort key; absent if the column has no figure for the route.
  std::optional<double> (*figure)(const RouteFigures&);
  std::string (*text)(const RouteFigures&);
};

const ColumnOutline& outline_of(Column);

/// The columns that are shown, and the widths of the two that take the room that is left.
struct TableShape {
  std::vector<Column> columns;
  std::size_t route = 0;
  std::size_t reasons = 0;  ///< 0: no room for reasons
};
/// `longest`: width of the longest name in columns.
TableShape shape_for(std::size_t columns, std::size_t longest);

/// Returns `not_idempotent 12, budget_spent 3`, the most frequent first; `-` if there are none.
std::string reasons_text(const CountsByWord& refused);
/// Returns the most frequent reasons that fit whole into `columns`, and the number of others: `not_idempotent
/// 12 +2`.
std::string reasons_within(const CountsByWord& refused, std::size_t columns);

}  // namespace reprise::tools
