// Broken downloads: which can be continued, what to ask for, and whether a response is the rest of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/policy/match/byte_range.hpp"

namespace reprise::policy {

/// Fields that `resume.validators` may list.
inline constexpr std::size_t most_validators = 8;

/// What a request says of ranges and of who signed it. Field texts without outer blanks; views of the caller.
struct DownloadRequest {
  bool get = false;
  bool has_body = false;
  std::string_view range;      ///< Range; empty: none
  bool conditional = false;    ///< has If-Range
  bool fields_signed = false;  ///< a signature covers Range, or a field that is left out of a continuation
  bool doubled = false;        ///< Range or If-Range came more than once
};

/// How the end of a response's body is told.
enum class BodyEnd : std::uint8_t { none, length, last_chunk, close };

/// Which bytes of which representation a response's body is, as its head says. Field texts without outer
/// blanks; views of the caller; empty: no such field.
struct PartHead {
  int status = 0;
  BodyEnd end = BodyEnd::none;
  std::uint64_t length = 0;  ///< for `BodyEnd::length`
  std::string_view entity_tag;
  std::string_view last_modified;
  std::string_view content_range;
  std::string_view content_type;
  std::string_view content_encoding;
  /// The fields that `resume.validators` lists, each at its place in that list.
  std::array<std::string_view, most_validators> versions{};
  bool uses_tags = true;                         ///< `resume.validators` lists etag
  std::optional<std::int64_t> last_modified_at;  ///< seconds since 1970; absent for junk
  std::optional<std::int64_t> date;              ///< the same, of Date
  bool doubled = false;                          ///< one of these came more than once
  bool has_trailer = false;                      ///< trailers were announced
};

/// What the request for the rest has to say.
struct RangeAsked {
  ByteRange range;
  std::string_view if_range;  ///< empty: no If-Range
};

/// What a response to the request for the rest is.
struct Continuation {
  enum class Kind : std::uint8_t {
    rest,       ///< a 206 with exactly the bytes that are missing
    whole,      ///< a 200 with the same representation: its first `skip` bytes are with the client
    uncounted,  ///< a 200 of the same version by a field, without a length that its bytes could be counted by
    mismatch,   ///< 200 or 206, but not, or not surely, the rest of the download
    refused,    ///< another status: no bytes at all
  };
  Kind kind = Kind::mismatch;
  std::uint64_t skip = 0;
  std::uint64_t bytes = 0;  ///< for `rest` and `whole`: what the client is still to get
};

/// Where the bytes of a response lie in its representation.
struct BodyPlace {
  std::uint64_t first = 0;                ///< offset of the first byte
  std::optional<std::uint64_t> end;       ///< one past the last byte; absent: not known yet
  std::optional<std::uint64_t> complete;  ///< bytes of the whole representation
  bool part = false;                      ///< a 206
};

/// What proves that a later response is of the same representation.
/// `field`: one that `resume.validators` lists.
enum class Proof : std::uint8_t { none, entity_tag, field, date };

/// A download as its first response began it. Owns its texts. `sent` always counts body bytes of that
/// response that the client has.
class Download {
 public:
  /// Nothing where a break could not be mended without doubt: no GET with 200, or with the 206 of a single
  /// range that the client asked for; a coded body; no validator (row E2); no end that can be proved (row
  /// E10); a signature in the way (row E11).
  static std::optional<Download> begin(const DownloadRequest&, const PartHead&);
  /// Whether `begin` would give one. Allocates nothing.
  static bool can_begin(const DownloadRequest&, const PartHead&);

  /// The views live as long as the download.
  RangeAsked ask(std::uint64_t sent) const;
  /// Whether that response to `ask(sent)` is the rest. Learns the end of a download that named none.
  Continuation judge(const PartHead&, std::uint64_t sent);
  /// False where nothing is left to ask for: the bytes are all
  /// there, or more than all, and only their end was not told.
  bool has_rest(std::uint64_t sent) const { return !place_.end || place_.first + sent < *place_.end; }

 private:
  Download() = default;
  bool is_same(const PartHead&) const;
  bool has_same_tag(std::string_view tag) const;
  bool has_same_versions(const PartHead&) const;
  Continuation judge_part(const PartHead&, std::uint64_t sent);
  Continuation judge_whole(const PartHead&, std::uint64_t sent) const;

  BodyPlace place_;
  std::string entity_tag_;
  std::string last_modified_;
  std::string content_type_;
  std::array<std::string, most_validators> versions_;
  Proof proof_ = Proof::none;
};

}  // namespace reprise::policy
