#include "proxy/tools/inject/quantity.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace reprise::tools {

std::optional<double> quantity(std::string_view text) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"", 1},        {"n", 1e-9},    {"u", 1e-6},    {"m", 1e-3},   {"k", 1e3},     {"M", 1e6},
      {"G", 1e9},     {"T", 1e12},    {"P", 1e15},    {"E", 1e18},   {"Ki", 0x1p10}, {"Mi", 0x1p20},
      {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60}};
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || (text[0] != '.' && (text[0] < '0' || text[0] > '9'))) return std::nullopt;
  double number = 0;
  const char* const end = text.data() + text.size();
  // from_chars reads `1E3` as one thousand. From `1E`, it reads only the 1, because no digit follows the E.
  // The E is then the unit (exa).
  const auto [behind, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view suffix(behind, static_cast<std::size_t>(end - behind));
  const auto* const unit =
      std::find_if(std::begin(units), std::end(units), [&](const auto& one) { return one.first == suffix; });
  return unit == std::end(units) ? std::nullopt : std::optional(number * unit->second);
}

std::partial_ordering compare_quantities(std::string_view one, std::string_view other) {
  const std::optional<double> left = quantity(one);
  const std::optional<double> right = quantity(other);
  if (!left || !right) return std::partial_ordering::unordered;
  if (std::abs(*left - *right) <= 1e-12 * std::max(*left, *right)) return std::partial_ordering::equivalent;
  return *left <=> *right;
}

}  // namespace reprise::tools
