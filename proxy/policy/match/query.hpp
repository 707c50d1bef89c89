// The parameters of a raw query, as sent: nothing is percent-decoded.
#pragma once

#include <algorithm>
#include <string_view>

namespace reprise::policy {

/// The text between two `&`. Without `=`, the whole text is the name and the value is absent, which differs
/// from an empty value.
struct Parameter {
  std::string_view name;
  std::string_view value;
  bool has_value = false;
};

/// Calls `is_wanted` with each parameter in order until it returns true. Returns false if it never returns
/// true.
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
