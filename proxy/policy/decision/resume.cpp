#include "proxy/policy/decision/resume.hpp"

#include <algorithm>

#include "proxy/policy/match/ascii.hpp"

namespace reprise::policy {
namespace {

constexpr int ok = 200;
constexpr int partial_content = 206;
// Last-Modified identifies a version only if it is at least this much older than Date. Then the content
// cannot have changed again within the same second (RFC 9110 8.8.2.2).
constexpr std::int64_t settled_seconds = 60;

bool is_plain(std::string_view coding) { return coding.empty() || equals_ignoring_case(coding, "identity"); }

bool is_multipart(std::string_view type) {
  constexpr std::string_view multipart = "multipart/byteranges";
  return equals_ignoring_case(type.substr(0, multipart.size()), multipart);
}

// Returns true if the value identifies one version. A value with a comma does not: it may be two joined field
// lines. `null` does not either: S3 sends it for every version if versioning is off.
bool names_version(std::string_view value) {
  return !value.empty() && value.find(',') == std::string_view::npos && !equals_ignoring_case(value, "null");
}

// Returns the part of the tag that weak comparison compares (RFC 9110 8.8.3.2).
std::string_view opaque_tag(std::string_view tag) { return tag.starts_with("W/") ? tag.substr(2) : tag; }

bool has_settled(const PartHead& head) {
  return head.last_modified_at && head.date && *head.last_modified_at <= *head.date - settled_seconds;
}

// Returns true if the fields describe the body without doubt: no field is repeated, and there is no coding,
// no multipart and no trailer.
bool is_clear(const PartHead& head) {
  return !head.doubled && !head.has_trailer && is_plain(head.content_encoding) &&
         !is_multipart(head.content_type);
}

// Returns the position of the first response's bytes in the representation, or nothing if that position is in
// doubt.
std::optional<BodyPlace> place_of(const DownloadRequest& request, const PartHead& head) {
  const auto asked = parse_range(request.range);
  if (!request.range.empty() && !asked) return std::nullopt;
  if (head.end == BodyEnd::none || head.end == BodyEnd::close) return std::nullopt;
  const bool counted = head.end == BodyEnd::length;
  if (head.status == ok) {
    // A Content-Range has no meaning in a 200 (RFC 9110 14.4). But if the request asked for a range, such a
    // 200 may be a part that was sent with the wrong status.
    if (asked && !head.content_range.empty()) return std::nullopt;
    if (counted && head.length == 0) return std::nullopt;
    return counted ? BodyPlace{0, head.length, head.length, false} : BodyPlace{};
  }
  const auto range = parse_content_range(head.content_range);
  if (head.status != partial_content || !asked || !range || range->first != asked->first) return std::nullopt;
  if (asked->last && range->last > *asked->last) return std::nullopt;
  if (counted && head.length != range->bytes()) return std::nullopt;
  return BodyPlace{range->first, range->last + 1, range->complete, true};
}

// Returns the strongest validator in the response that identifies the representation: a strong ETag, a field
// of `resume.validators`, or a date (row E2).
Proof proof_of(const PartHead& head) {
  if (head.uses_tags && tag_kind(head.entity_tag) == TagKind::strong) return Proof::entity_tag;
  if (std::any_of(head.versions.begin(), head.versions.end(), names_version)) return Proof::field;
  // If the upstream has a tag for the representation, a date is not enough (RFC 9110 13.1.5).
  return head.entity_tag.empty() && has_settled(head) ? Proof::date : Proof::none;
}

bool asks_plainly(const DownloadRequest& request) {
  return request.get && !request.has_body && !request.conditional && !request.doubled &&
         !request.fields_signed;
}

}  // namespace

bool Download::can_begin(const DownloadRequest& request, const PartHead& head) {
  return asks_plainly(request) && is_clear(head) && place_of(request, head) && proof_of(head) != Proof::none;
}

std::optional<Download> Download::begin(const DownloadRequest& request, const PartHead& head) {
  if (!can_begin(request, head)) return std::nullopt;
  Download download;
  download.place_ = *place_of(request, head);
  download.entity_tag_ = head.entity_tag;
  download.last_modified_ = head.last_modified;
  download.content_type_ = head.content_type;
  std::copy(head.versions.begin(), head.versions.end(), download.versions_.begin());
  download.proof_ = proof_of(head);
  return download;
}

RangeAsked Download::ask(std::uint64_t sent) const {
  RangeAsked asked;
  asked.range.first = place_.first + sent;
  if (place_.part) asked.range.last = *place_.end - 1;
  if (proof_ == Proof::entity_tag) asked.if_range = entity_tag_;
  if (proof_ == Proof::date) asked.if_range = last_modified_;
  return asked;
}

Continuation Download::judge(const PartHead& head, std::uint64_t sent) {
  if (head.status == partial_content) return judge_part(head, sent);
  if (head.status == ok) return judge_whole(head, sent);
  return {Continuation::Kind::refused, 0, 0};
}

// Returns true if the response has the same representation as the first response. The validator of the first
// response must be repeated. Other fields may be absent, as in a 206 to If-Range (RFC 9110 15.3.7), but must
// not differ.
bool Download::is_same(const PartHead& head) const {
  if (head.uses_tags && !has_same_tag(head.entity_tag)) return false;
  if (proof_ == Proof::date && head.last_modified != last_modified_) return false;
  if (!head.content_type.empty() && head.content_type != content_type_) return false;
  return has_same_versions(head);
}

// Compares the ETags. If a field of `resume.validators` proves the version instead (row E2), the response may
// omit the ETag.
bool Download::has_same_tag(std::string_view tag) const {
  if (proof_ != Proof::field) return tag == entity_tag_;
  return tag.empty() || entity_tag_.empty() || opaque_tag(tag) == opaque_tag(entity_tag_);
}

// Compares the fields of `resume.validators`. Without If-Range, they are the only proof, so all must be
// equal. With If-Range, a field may be absent but must not differ.
bool Download::has_same_versions(const PartHead& head) const {
  const bool may_be_left_out = proof_ != Proof::field;
  for (std::size_t i = 0; i < versions_.size(); ++i) {
    const bool compared = !may_be_left_out || (!versions_[i].empty() && !head.versions[i].empty());
    if (compared && head.versions[i] != versions_[i]) return false;
  }
  return true;
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

// Judges a 200 response to a resume request (row E1). Compares the lengths, so the length of the whole
// representation must be known. A date is not enough proof.
Continuation Download::judge_whole(const PartHead& head, std::uint64_t sent) const {
  if (place_.part || proof_ == Proof::date || !is_clear(head) || !is_same(head)) return {};
  // No If-Range was sent, so a 200 does not mean that the content has changed.
  if (proof_ == Proof::field && head.end != BodyEnd::length) return {Continuation::Kind::uncounted, 0, 0};
  if (head.end != BodyEnd::length || !place_.complete) return {};
  // The fields of `resume.validators` prove the same version, so the different length is an error of this
  // response. The response counts as one more break.
  if (head.length != *place_.complete) return {Continuation::Kind::uncounted, 0, 0};
  if (sent >= head.length) return {};
  return {Continuation::Kind::whole, sent, head.length - sent};
}

}  // namespace reprise::policy
