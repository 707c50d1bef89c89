// Byte ranges and entity tags as fields spell them (RFC 9110 8.8.3, 14.2, 14.4), read strictly.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise::policy {

/// One range that a request asks for, by its first byte. `last` is absent for `bytes=N-`.
struct ByteRange {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last;

  bool operator==(const ByteRange&) const = default;
};
/// Nothing for several ranges, a suffix (`bytes=-N`), another unit, last < first, numbers over 19 digits and
/// anything else that is not `bytes=N-` or `bytes=N-M`. The unit is read without regard to case.
std::optional<ByteRange> parse_range(std::string_view value);

/// What a 206 says that its body is. `complete` is absent for `*`.
struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;                 ///< first <= last < complete
  std::optional<std::uint64_t> complete;  ///< bytes of the whole representation

  std::uint64_t bytes() const { return last - first + 1; }
  bool operator==(const ContentRange&) const = default;
};
/// Nothing for another unit, an unsatisfied range (`bytes */N`), last < first, complete <= last, numbers over
/// 19 digits and junk.
std::optional<ContentRange> parse_content_range(std::string_view value);

/// `junk`: no entity tag by the grammar, unquoted ones included; `none`: empty.
enum class TagKind : std::uint8_t { none, weak, strong, junk };
TagKind tag_kind(std::string_view value);

}  // namespace reprise::policy
