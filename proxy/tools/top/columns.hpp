// The columns in the table of routes, and which of them fit on a terminal.
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
  std::string_view meaning;  ///< description for the help page
  std::size_t width;         ///< width in terminal columns; the route name also gets the remaining width
  /// Order of importance. On a narrow terminal, the column with the highest rank is omitted first.
  unsigned rank;
  /// Returns the sort key of the route, or nothing if the column has no figure for the route.
  std::optional<double> (*figure)(const RouteFigures&);
  std::string (*text)(const RouteFigures&);
};

const ColumnOutline& outline_of(Column);

/// The columns that are shown, the width of the route name, and the width of the reasons. The name and the
/// reasons share the remaining width.
struct TableShape {
  std::vector<Column> columns;
  std::size_t route = 0;
  std::size_t reasons = 0;  ///< 0 if there is no room for reasons
};
/// Returns the shape of the table on a terminal of `columns` columns. `longest` is the width of the longest
/// route name.
TableShape shape_for(std::size_t columns, std::size_t longest);

/// Returns the reasons with their counts, the most frequent first, for example `not_idempotent 12,
/// budget_spent 3`. Returns `-` if there are no reasons.
std::string reasons_text(const CountsByWord& refused);
/// Returns the most frequent reasons that fit completely into `columns`, and how many reasons are omitted,
/// for example `not_idempotent 12 +2`.
std::string reasons_within(const CountsByWord& refused, std::size_t columns);

}  // namespace reprise::tools
