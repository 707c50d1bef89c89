// What the compiler knows of an enumeration: how many enumerators it has, and what each is called.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace reprise::policy {

namespace enumerators {

/// `success` for Reason::success; ends with a number for what is no enumerator: `Reason)26`.
template <auto value>
consteval std::string_view spelled() {
  // `... [with auto value = room::Reason::success; ...]` to GCC,
  // `... [value = room::Reason::success]` to clang.
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

/// How many enumerators there are. They count from 0 and leave no number out.
template <typename Enum>
inline constexpr std::size_t count_of = enumerators::count<Enum, 0>();

/// Their own names, in their order.
template <typename Enum>
inline constexpr auto names_of = []<std::size_t... i>(std::index_sequence<i...>) {
  return std::array<std::string_view, sizeof...(i)>{enumerators::spelled<static_cast<Enum>(i)>()...};
}
(std::make_index_sequence<count_of<Enum>>{});

/// True if row i of a table is that of enumerator i, told by what `key` takes from a row.
template <typename Rows, typename Key>
consteval bool follows_enumerators(const Rows& rows, Key key) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(key(rows[i])) != i) return false;
  }
  return true;
}

}  // namespace reprise::policy
