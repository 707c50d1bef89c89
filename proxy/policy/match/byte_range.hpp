// Strict parsers of byte ranges and entity tags (RFC 9110 8.8.3, 14.2, 14.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise::policy {

/// The single range that a request asks for. `last` is absent for `bytes=N-`.
struct ByteRange {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last;

  bool operator==(const ByteRange&) const = default;
};
/// Parses `bytes=N-` or `bytes=N-M`; the unit is case-insensitive. Returns nothing for any other value:
/// several ranges, a suffix (`bytes=-N`), another unit, last < first, or a number of more than 19 digits.
std::optional<ByteRange> parse_range(std::string_view value);

/// The range of bytes that the Content-Range of a 206 names. `complete` is absent for `*`.
struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;                 ///< first <= last < complete
  std::optional<std::uint64_t> complete;  ///< size of the whole representation in bytes

  std::uint64_t bytes() const { return last - first + 1; }
  bool operator==(const ContentRange&) const = default;
};
/// Parses a Content-Range. Returns nothing for another unit, an unsatisfied range (`bytes */N`), last <
/// first, complete <= last, a number of more than 19 digits, or any other malformed value.
std::optional<ContentRange> parse_content_range(std::string_view value);

/// `junk`: the value is not an entity tag by the grammar, for example because it has no quotes. `none`: the
/// value is empty.
enum class TagKind : std::uint8_t { none, weak, strong, junk };
TagKind tag_kind(std::string_view value);

}  // namespace reprise::policy
