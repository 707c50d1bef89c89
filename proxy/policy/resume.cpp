#include "proxy/policy/resume.hpp"

#include <algorithm>

#include "proxy/policy/ascii.hpp"

namespace reprise::policy {
namespace {

constexpr int ok = 200;
constexpr int partial_content = 206;
// A date so much older than the answer cannot hide a second change within its second (RFC 9110 8.8.2.2).
constexpr std::int64_t settled_seconds = 60;

bool is_plain(std::string_view coding) { return coding.empty() || equals_ignoring_case(coding, "identity"); }

bool is_multipart(std::string_view type) {
  constexpr std::string_view multipart = "multipart/byteranges";
  return equals_ignoring_case(type.substr(0, multipart.size()), multipart);
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool has_settled(const PartHead& head) {
  return head.last_modified_at && head.date && *head.last_modified_at <= *head.date - settled_seconds;
}

// No doubt about what the body is: one of each field, no coding, no parts within.
bool is_clear(const PartHead& head) {
  return !head.doubled && !head.has_trailer && is_plain(head.content_encoding) &&
         !is_multipart(head.content_type);
}

// Where the first answer's bytes lie; nothing where that is in doubt.
std::optional<BodyPlace> place_of(const DownloadRequest& request, const PartHead& head) {
  const auto asked = parse_range(request.range);
  if (!request.range.empty() && !asked) return std::nullopt;
  if (head.end == BodyEnd::none || head.end == BodyEnd::close) return std::nullopt;
  const bool counted = head.end == BodyEnd::length;
  if (head.status == ok) {
    if (!head.content_range.empty() || (counted && head.length == 0)) return std::nullopt;
    return counted ? BodyPlace{0, head.length, head.length, false} : BodyPlace{};
  }
  const auto range = parse_content_range(head.content_range);
  if (head.status != partial_content || !asked || !range || range->first != asked->first) return std::nullopt;
  if (asked->last && range->last > *asked->last) return std::nullopt;
  if (counted && head.length != range->bytes()) return std::nullopt;
  return BodyPlace{range->first, range->last + 1, range->complete, true};
}

/// What proves that a later answer is of the same representation.
struct Validator {
  std::string_view entity_tag;
  std::string_view last_modified;
  std::string_view generation;
  bool pins = false;
};

// Row E2.
std::optional<Validator> validator_of(const DownloadRequest& request, const PartHead& head) {
  const TagKind tag = tag_kind(head.entity_tag);
  if (tag == TagKind::weak) return std::nullopt;
  Validator found;
  found.entity_tag = head.entity_tag;
  if (is_number(head.generation)) found.generation = head.generation;
  const bool numbered = !found.generation.empty();
  const bool pinned_already = numbered && request.generation == found.generation;
  found.pins = numbered && request.generation.empty() && !request.target_signed;
  // A date says nothing where the upstream has a tag for the representation (RFC 9110 13.1.5).
  if (tag == TagKind::none && has_settled(head)) found.last_modified = head.last_modified;
  const bool proves = tag == TagKind::strong || found.pins || pinned_already || !found.last_modified.empty();
  return proves ? std::optional(found) : std::nullopt;
}

bool asks_plainly(const DownloadRequest& request) {
  return request.get && !request.has_body && !request.conditional && !request.doubled &&
         !request.fields_signed;
}

}  // namespace

bool Download::can_begin(const DownloadRequest& request, const PartHead& head) {
  return asks_plainly(request) && is_clear(head) && place_of(request, head) && validator_of(request, head);
}

std::optional<Download> Download::begin(const DownloadRequest& request, const PartHead& head) {
  if (!can_begin(request, head)) return std::nullopt;
  const Validator validator = *validator_of(request, head);
  Download download;
  download.place_ = *place_of(request, head);
  download.entity_tag_ = validator.entity_tag;
  download.last_modified_ = validator.last_modified;
  download.content_type_ = head.content_type;
  download.generation_ = validator.generation;
  download.pins_ = validator.pins;
  return download;
}

RangeAsked Download::ask(std::uint64_t sent) const {
  RangeAsked asked;
  asked.range.first = place_.first + sent;
  if (place_.part) asked.range.last = *place_.end - 1;
  if (tag_kind(entity_tag_) == TagKind::strong) {
    asked.if_range = entity_tag_;
  } else {
    asked.if_range = last_modified_;
  }
  if (pins_) asked.generation = generation_;
  return asked;
}

Continuation Download::judge(const PartHead& head, std::uint64_t sent) {
  if (head.status == partial_content) return judge_part(head, sent);
  if (head.status == ok) return judge_whole(head, sent);
  return {Continuation::Kind::refused, 0, 0};
}

// A field that was there once must come again; what If-Range lets a 206 leave out is only the rest (RFC 9110
// 15.3.7).
bool Download::is_same(const PartHead& head) const {
  if (head.entity_tag != entity_tag_) return false;
  if (!last_modified_.empty() && head.last_modified != last_modified_) return false;
  if (!head.content_type.empty() && head.content_type != content_type_) return false;
  if (generation_.empty()) return true;
  const bool proved_by_tag = tag_kind(entity_tag_) == TagKind::strong;
  return head.generation == generation_ || (head.generation.empty() && proved_by_tag);
}

Continuation Download::judge_part(const PartHead& head, std::uint64_t sent) {
  const auto range = parse_content_range(head.content_range);
  if (!range || !is_clear(head) || !is_same(head)) return {};
  if (range->first != place_.first + sent) return {};
  if (range->complete && place_.complete && *range->complete != *place_.complete) return {};
  const auto end = place_.end ? place_.end : range->complete;
  if (!end || range->last + 1 != *end) return {};
  if (head.end == BodyEnd::none || (head.end == BodyEnd::length && head.length != range->bytes())) return {};
  place_.end = end;
  if (!place_.complete) place_.complete = range->complete;
  return {Continuation::Kind::rest, 0, range->bytes()};
}

// Row E1. Without the whole representation's length there is nothing to compare.
Continuation Download::judge_whole(const PartHead& head, std::uint64_t sent) const {
  const bool same_length =
      !place_.part && head.end == BodyEnd::length && place_.complete && head.length == *place_.complete;
  if (!same_length || !head.content_range.empty() || sent >= head.length) return {};
  if (!is_clear(head) || !is_same(head) || tag_kind(entity_tag_) != TagKind::strong) return {};
  return {Continuation::Kind::whole, sent, head.length - sent};
}

}  // namespace reprise::policy
