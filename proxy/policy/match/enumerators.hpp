// Compile-time facts about an enumeration: the number of its enumerators and their names.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace reprise::policy {

namespace enumerators {

/// Returns the name of an enumerator, such as `success` for Reason::success. For a value that is not an
/// enumerator, the text ends in a number: `Reason)26`.
template <auto value>
consteval std::string_view spelled() {
  // Text from GCC: `... [with auto value = room::Reason::success; ...]`.
  // Text from clang: `... [value = room::Reason::success]`.
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("value = ") + 8);
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

template <typename Enum, std::size_t from>
consteval std::size_t count() {
  constexpr bool is_one = spelled<static_cast<Enum>(from)>().find(')') == std::string_view::npos;
  if constexpr (is_one) {
    return count<Enum, from + 1>();
  } else {
    return from;
  }
}

}  // namespace enumerators

/// The number of enumerators. Precondition: their values count from 0 without gaps.
template <typename Enum>
inline constexpr std::size_t count_of = enumerators::count<Enum, 0>();

/// The names of the enumerators, in declaration order.
template <typename Enum>
inline constexpr auto names_of = []<std::size_t... i>(std::index_sequence<i...>) {
  return std::array<std::string_view, sizeof...(i)>{enumerators::spelled<static_cast<Enum>(i)>()...};
}
(std::make_index_sequence<count_of<Enum>>{});

/// Returns true if the rows of the table are in the order of the enumerators: row i belongs to the enumerator
/// with the value i. `key` returns the enumerator of a row.
template <typename Rows, typename Key>
consteval bool follows_enumerators(const Rows& rows, Key key) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(key(rows[i])) != i) return false;
  }
  return true;
}

}  // namespace reprise::policy
