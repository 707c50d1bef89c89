#include "proxy/policy/match/byte_range.hpp"

#include <algorithm>

#include "proxy/policy/match/ascii.hpp"

namespace reprise::policy {
namespace {

constexpr std::string_view unit = "bytes";
// Numbers of 19 digits always fit into 64 bits, and so does the number of bytes between two such offsets.
constexpr std::size_t most_digits = 19;

std::optional<std::uint64_t> number(std::string_view text) {
  if (text.empty() || text.size() > most_digits) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

// Returns the text after `bytes` and `separator`; nothing if the value has another unit.
std::optional<std::string_view> behind_unit(std::string_view value, char separator) {
  if (value.size() <= unit.size() || !equals_ignoring_case(value.substr(0, unit.size()), unit) ||
      value[unit.size()] != separator)
    return std::nullopt;
  return value.substr(unit.size() + 1);
}

// Returns true for an etagc (RFC 9110 8.8.3): visible ASCII except the quote, and obs-text.
bool is_tag_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x21 || (byte >= 0x23 && byte != 0x7f);
}

}  // namespace

std::optional<ByteRange> parse_range(std::string_view value) {
  const auto spec = behind_unit(value, '=');
  if (!spec) return std::nullopt;
  const std::size_t dash = spec->find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = number(spec->substr(0, dash));
  if (!first) return std::nullopt;
  const std::string_view end = spec->substr(dash + 1);
  if (end.empty()) return ByteRange{*first, std::nullopt};
  const auto last = number(end);
  if (!last || *last < *first) return std::nullopt;
  return ByteRange{*first, last};
}

std::optional<ContentRange> parse_content_range(std::string_view value) {
  const auto spec = behind_unit(value, ' ');
  if (!spec) return std::nullopt;
  const std::size_t dash = spec->find('-');
  const std::size_t slash = spec->find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash) return std::nullopt;
  const auto first = number(spec->substr(0, dash));
  const auto last = number(spec->substr(dash + 1, slash - dash - 1));
  if (!first || !last || *last < *first) return std::nullopt;
  const std::string_view size = spec->substr(slash + 1);
  if (size == "*") return ContentRange{*first, *last, std::nullopt};
  const auto complete = number(size);
  if (!complete || *complete <= *last) return std::nullopt;
  return ContentRange{*first, *last, complete};
}

TagKind tag_kind(std::string_view value) {
  if (value.empty()) return TagKind::none;
  const bool weak = value.starts_with("W/");
  const std::string_view quoted = weak ? value.substr(2) : value;
  if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"') return TagKind::junk;
  const std::string_view opaque = quoted.substr(1, quoted.size() - 2);
  if (!std::all_of(opaque.begin(), opaque.end(), is_tag_byte)) return TagKind::junk;
  return weak ? TagKind::weak : TagKind::strong;
}

}  // namespace reprise::policy
