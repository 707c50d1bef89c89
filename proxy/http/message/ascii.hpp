// Helpers for the bytes of HTTP messages: token characters, ASCII case, blanks, decimal numbers, comma lists.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/policy/match/ascii.hpp"

namespace reprise::http::ascii {

consteval std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = table[c + 32] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}
inline constexpr std::array<bool, 256> token_table = make_token_table();

/// Returns true for a tchar (RFC 9110 5.6.2).
constexpr bool is_token(char c) { return token_table[static_cast<unsigned char>(c)]; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
/// Returns true for a control character other than HTAB. No field value may hold one (RFC 9110 5.5).
constexpr bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}
constexpr char lower(char c) { return policy::to_lower(c); }

/// Compares two texts without regard to ASCII case. Beast's own comparison is not used, because it reads one
/// byte past the end.
constexpr bool same(std::string_view a, std::string_view b) { return policy::equals_ignoring_case(a, b); }

constexpr bool starts_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && same(text.substr(0, prefix.size()), prefix);
}

constexpr bool is_token(std::string_view text) {
  for (const char c : text) {
    if (!is_token(c)) return false;
  }
  return !text.empty();
}

constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Parses a text of 1 to 19 digits; the value always fits into 64 bits. Returns nothing for any other text.
constexpr std::optional<std::uint64_t> decimal(std::string_view text) {
  if (text.empty() || text.size() > 19) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

/// Parses like `decimal`, but returns nothing for a number with a leading zero. The text `0` is a number.
constexpr std::optional<std::uint64_t> plain_decimal(std::string_view text) {
  return text.size() > 1 && text.front() == '0' ? std::nullopt : decimal(text);
}

/// Calls `visit` with each member of a comma list, trimmed. Skips empty members (RFC 9110 5.6.1.2).
template <class Visit>
constexpr void for_each_member(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view member = trim(list.substr(0, comma));
    if (!member.empty()) visit(member);
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

constexpr bool lists(std::string_view list, std::string_view wanted) {
  bool found = false;
  for_each_member(list, [&](std::string_view member) { found = found || same(member, wanted); });
  return found;
}

/// Appends the pieces to `out` in order.
template <class... Pieces>
void append(std::string& out, const Pieces&... pieces) {
  (out.append(std::string_view(pieces)), ...);
}

}  // namespace reprise::http::ascii
