// Resuming broken downloads: which downloads can be resumed, what to request, and whether a response has the
// missing bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/policy/match/byte_range.hpp"

namespace reprise::policy {

/// The maximum number of fields that `resume.validators` may list.
inline constexpr std::size_t most_validators = 8;

/// The facts about ranges and signatures of a download request. Field values are without outer blanks; the
/// views belong to the caller.
struct DownloadRequest {
  bool get = false;
  bool has_body = false;
  std::string_view range;      ///< the Range field; empty if there is none
  bool conditional = false;    ///< the request has If-Range
  bool fields_signed = false;  ///< a signature covers Range, or a field that a resume request omits
  bool doubled = false;        ///< Range or If-Range occurs more than once
};

/// What marks the end of a response body.
enum class BodyEnd : std::uint8_t { none, length, last_chunk, close };

/// The fields of a response head that identify the bytes in its body. Field values are without outer blanks,
/// and empty if the field is absent; the views belong to the caller.
struct PartHead {
  int status = 0;
  BodyEnd end = BodyEnd::none;
  std::uint64_t length = 0;  ///< set for `BodyEnd::length`
  std::string_view entity_tag;
  std::string_view last_modified;
  std::string_view content_range;
  std::string_view content_type;
  std::string_view content_encoding;
  /// Values of the fields that `resume.validators` lists, in the same order.
  std::array<std::string_view, most_validators> versions{};
  bool uses_tags = true;                         ///< `resume.validators` lists etag
  std::optional<std::int64_t> last_modified_at;  ///< seconds since 1970; absent if malformed
  std::optional<std::int64_t> date;              ///< Date in seconds since 1970; absent if malformed
  bool doubled = false;                          ///< a field of this struct occurs more than once
  bool has_trailer = false;                      ///< the response announced trailers
};

/// The Range and If-Range fields of a resume request.
struct RangeAsked {
  ByteRange range;
  std::string_view if_range;  ///< empty if no If-Range is sent
};

/// The judgement on a response to a resume request.
struct Continuation {
  enum class Kind : std::uint8_t {
    rest,   ///< a 206 with exactly the missing bytes
    whole,  ///< a 200 with the same representation; the client already has its first `skip` bytes
    /// A 200 of the same version (by a field of `resume.validators`), but without a usable length.
    uncounted,
    mismatch,  ///< a 200 or 206 that does not provably have the missing bytes
    refused,   ///< any other status than 200 and 206: the body has no bytes of the download
  };
  Kind kind = Kind::mismatch;
  std::uint64_t skip = 0;
  std::uint64_t bytes = 0;  ///< for `rest` and `whole`: number of bytes that the client still needs
};

/// The position of a response's bytes in its representation.
struct BodyPlace {
  std::uint64_t first = 0;                ///< offset of the response's first byte in the representation
  std::optional<std::uint64_t> end;       ///< offset of the last byte plus 1; absent if not known yet
  std::optional<std::uint64_t> complete;  ///< size of the whole representation in bytes
  bool part = false;                      ///< the response is a 206
};

/// The validator that proves that a later response has the same representation. `field` is a field that
/// `resume.validators` lists.
enum class Proof : std::uint8_t { none, entity_tag, field, date };

/// A download, as described by its first response. Owns its strings. In every function, `sent` is the number
/// of bytes that the client has, counted from the start of the first response's body.
class Download {
 public:
  /// Returns a download. Returns nothing if a break could not be resumed with certainty:
  /// - not a GET with 200, or with the 206 of a single range that the client asked for;
  /// - a coded body;
  /// - no validator (row E2);
  /// - no end that can be proved (row E10);
  /// - a signature that would make the resume request invalid (row E11).
  static std::optional<Download> begin(const DownloadRequest&, const PartHead&);
  /// Returns true if `begin` would return a download. Allocates nothing.
  static bool can_begin(const DownloadRequest&, const PartHead&);

  /// Returns the Range and If-Range fields of the resume request. The views are valid as long as this object.
  RangeAsked ask(std::uint64_t sent) const;
  /// Judges a response to `ask(sent)`. If the first response did not name the length of the download, takes
  /// the length from the judged response.
  Continuation judge(const PartHead&, std::uint64_t sent);
  /// Returns true if bytes of the body are still missing. Returns false if all bytes (or more) have arrived,
  /// so that only the end mark of the body was missing.
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
