// The parameters of a raw query, as they were sent: nothing is percent-decoded.
#pragma once

#include <algorithm>
#include <string_view>

namespace reprise::policy {

/// What stands between two `&`. Without a `=` it is all name, and has no value rather than an empty one.
struct Parameter {
  std::string_view name;
  std::string_view value;
  bool has_value = false;
};

/// Gives the parameters to `is_wanted` in their order,
/// until it says true of one; false if it says so of none.
template <typename Wanted>
constexpr bool any_parameter(std::string_view query, Wanted is_wanted) {
  for (std::size_t begin = 0; begin < query.size();) {
    const std::size_t end = std::min(query.find('&', begin), query.size());
    const std::string_view pair = query.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const bool has_value = equals < pair.size();
    const Parameter parameter{pair.substr(0, equals), pair.substr(equals + (has_value ? 1 : 0)), has_value};
    if (is_wanted(parameter)) return true;
  }
  return false;
}

}  // namespace reprise::policy
