#include "proxy/tools/top/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace reprise::tools {
namespace {

constexpr std::size_t least_name = 12;
constexpr std::size_t most_name_before_columns = 40;
constexpr std::size_t least_reasons = 28;

std::optional<double> rate_of(const RouteFigures& route, std::uint64_t count) {
  if (route.span <= 0) return std::nullopt;
  return route.rate(count);
}

std::optional<double> seconds_of(const std::optional<Quantile>& quantile) {
  if (!quantile) return std::nullopt;
  // A quantile above the highest bucket bound has that bound as its `seconds`. The factor sorts such a
  // quantile after one that is exactly at the bound.
  return quantile->seconds * (quantile->beyond ? 1.001 : 1);
}

std::string text_of(const std::optional<Quantile>& quantile) {
  if (!quantile) return "-";
  return (quantile->beyond ? ">" : "") + seconds_text(quantile->seconds);
}

std::string text_of_rate(const RouteFigures& route, std::uint64_t count) {
  return route.span > 0 ? rate_text(route.rate(count)) : "-";
}

std::string text_of_count(std::uint64_t count) { return count_text(static_cast<double>(count)); }

using Figure = std::optional<double>;
using Route = const RouteFigures&;

// The type is explicit, because the type of a function pointer cannot be deduced from a list of lambdas.
constexpr std::array<ColumnOutline, column_count> outlines{{
    {Column::route, "ROUTE", "name of the route", least_name, 0, [](Route) -> Figure { return std::nullopt; },
     [](Route route) { return route.name; }},
    {Column::rate, "REQ/S", "requests per second", 6, 1,
     [](Route route) { return rate_of(route, route.recent.requests); },
     [](Route route) { return text_of_rate(route, route.recent.requests); }},
    {Column::success, "OK", "share of complete responses without a 5xx or a failed gRPC call", 6, 2,
     [](Route route) -> Figure { return route.success; },
     [](Route route) { return route.success ? share_text(*route.success) : "-"; }},
    {Column::retries, "RETRY/S", "retries per second", 7, 5,
     [](Route route) { return rate_of(route, route.recent.retries); },
     [](Route route) { return text_of_rate(route, route.recent.retries); }},
    {Column::recovered, "RECOV", "requests that succeeded after a retry, since the start", 6, 6,
     [](Route route) -> Figure { return static_cast<double>(route.total.recovered); },
     [](Route route) { return text_of_count(route.total.recovered); }},
    {Column::refused, "REFUSED",
     "requests that were not retried, since the start; BY REASON counts each reason", 7, 4,
     [](Route route) -> Figure { return static_cast<double>(sum_of(route.total.refused)); },
     [](Route route) { return text_of_count(sum_of(route.total.refused)); }},
    {Column::exhausted, "SPENT", "requests that a limit ended (attempts, deadline, budget), since the start",
     6, 8, [](Route route) -> Figure { return static_cast<double>(route.total.exhausted); },
     [](Route route) { return text_of_count(route.total.exhausted); }},
    {Column::p50, "P50", "half of the requests took at most this long", 6, 7,
     [](Route route) { return seconds_of(route.p50); }, [](Route route) { return text_of(route.p50); }},
    {Column::p99, "P99", "99 of 100 requests took at most this long", 6, 3,
     [](Route route) { return seconds_of(route.p99); }, [](Route route) { return text_of(route.p99); }},
}};
static_assert(policy::follows_enumerators(outlines, [](const ColumnOutline& row) { return row.column; }));

}  // namespace

const ColumnOutline& outline_of(Column column) { return outlines[static_cast<std::size_t>(column)]; }

TableShape shape_for(std::size_t columns, std::size_t longest) {
  std::vector<bool> shown(column_count, false);
  // A row begins with the selection mark and the route name. Two blanks precede each further column. Only the
  // rate and the success ratio have priority over a complete route name.
  const std::size_t kept = 1 + 2 * (2 + outlines[static_cast<std::size_t>(Column::rate)].width);
  const std::size_t name_room = columns > kept + least_name ? columns - kept : least_name;
  const std::size_t name = std::min(std::clamp(longest, least_name, most_name_before_columns), name_room);
  std::size_t used = 1 + name;
  std::vector<std::size_t> by_rank(column_count);
  for (std::size_t i = 0; i < column_count; ++i) by_rank[outlines[i].rank] = i;
  shown[by_rank[0]] = true;
  for (std::size_t rank = 1; rank < column_count; ++rank) {
    const std::size_t more = outlines[by_rank[rank]].width + 2;
    if (used + more > columns) break;
    used += more;
    shown[by_rank[rank]] = true;
  }
  TableShape shape;
  for (std::size_t i = 0; i < column_count; ++i)
    if (shown[i]) shape.columns.push_back(static_cast<Column>(i));
  std::size_t room = columns > used ? columns - used : 0;
  // The longest name is shown completely, even if this leaves less room for reasons. A name that does not fit
  // even without reasons is cut.
  const std::size_t rest_of_name = longest > name && longest - name <= room ? longest - name : 0;
  room -= rest_of_name;
  shape.route = std::min(name + rest_of_name, columns > 1 ? columns - 1 : 1);
  if (room >= least_reasons + 2) shape.reasons = room - 2;
  return shape;
}

std::string reasons_text(const CountsByWord& refused) {
  return reasons_within(refused, std::numeric_limits<std::size_t>::max());
}

std::string reasons_within(const CountsByWord& refused, std::size_t columns) {
  CountsByWord sorted = refused;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& one, const auto& other) { return one.second > other.second; });
  std::string text;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [reason, count] = sorted[i];
    const std::string next =
        fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, count_text(static_cast<double>(count)));
    const std::string rest = fmt::format(" +{}", sorted.size() - i);
    const std::size_t after = i + 1 < sorted.size() ? rest.size() : 0;
    if (!text.empty() && text.size() + next.size() + after > columns) return text + rest;
    text += next;
  }
  return text.empty() ? "-" : text;
}

}  // namespace reprise::tools
