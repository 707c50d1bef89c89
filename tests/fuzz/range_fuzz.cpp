// Fuzz target: Range, Content-Range and entity tags. A parsed value is written back unchanged; a download is
// resumed only with the missing bytes.
#include <algorithm>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/retry_hints/download.hpp"
#include "tests/fuzz/heads.hpp"

namespace reprise::fuzz {
namespace {

using namespace policy;

std::string without_zeros(std::string_view number) {
  return std::string(number.substr(std::min(number.find_first_not_of('0'), number.size() - 1)));
}

/// Returns the text with leading zeros removed from its numbers, in lower case.
std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", i), text.size());
    if (end > i) {
      out += without_zeros(text.substr(i, end - i));
      i = end;
    } else {
      out += lowered(text.substr(i++, 1));
    }
  }
  return out;
}

std::string spelled(const ByteRange& range) {
  return "bytes=" + std::to_string(range.first) + "-" + (range.last ? std::to_string(*range.last) : "");
}
std::string spelled(const ContentRange& range) {
  return "bytes " + std::to_string(range.first) + "-" + std::to_string(range.last) + "/" +
         (range.complete ? std::to_string(*range.complete) : "*");
}

void judge_values(std::string_view text) {
  if (const auto range = parse_range(text)) {
    law(!range->last || *range->last >= range->first, "a range does not run backwards");
    law(spelled(*range) == plain(text) && parse_range(spelled(*range)) == range,
        "a range is what is written");
  }
  if (const auto range = parse_content_range(text)) {
    law(range->first <= range->last && (!range->complete || range->last < *range->complete),
        "a part lies in its whole");
    law(range->bytes() > 0, "a part has bytes");
    law(spelled(*range) == plain(text) && parse_content_range(spelled(*range)) == range,
        "a part is what is written");
  }
  const TagKind kind = tag_kind(text);
  law((kind == TagKind::none) == text.empty(), "nothing is no tag");
  if (kind == TagKind::strong) law(tag_kind("W/" + std::string(text)) == TagKind::weak, "W/ makes it weak");
  if (kind == TagKind::weak) law(tag_kind(text.substr(2)) == TagKind::strong, "without W/ it is strong");
  if (kind == TagKind::strong || kind == TagKind::weak)
    law(!has_control(text) && text.find(' ') == std::string_view::npos,
        "a tag has neither blanks nor controls");
}

/// Returns the head of a correct response to the resume request. `head` is the head of the first response.
PartHead rest_of(const PartHead& head, const RangeAsked& asked, std::uint64_t last, std::uint64_t complete,
                 std::string& text) {
  PartHead rest = head;
  text = spelled(ContentRange{asked.range.first, last, complete});
  rest.status = 206;
  rest.content_range = text;
  rest.end = BodyEnd::length;
  rest.length = last - asked.range.first + 1;
  return rest;
}

/// Checks that a response with another version is never accepted as the rest, whether its status is 206 or
/// 200.
void judge_other_versions(const Download& download, const PartHead& head, const PartHead& rest,
                          const RangeAsked& asked, std::uint64_t sent) {
  const bool by_tag = head.uses_tags && tag_kind(head.entity_tag) == TagKind::strong;
  const bool by_date = !by_tag && !asked.if_range.empty();
  law(asked.if_range == (by_tag    ? head.entity_tag
                         : by_date ? head.last_modified
                                   : std::string_view()),
      "If-Range is for a strong tag, or a date");
  const auto judged = [&](PartHead changed) {
    Download copy = download;
    return copy.judge(changed, sent).kind;
  };
  PartHead other = rest;
  other.entity_tag = "\"another\"";
  // If another field identifies the version, entity tags are compared weakly, and only if both responses have
  // an entity tag (row E2).
  const bool is_weakly_same = head.entity_tag.ends_with(other.entity_tag);
  if (head.uses_tags && !head.entity_tag.empty() && !is_weakly_same)
    law(judged(other) == Continuation::Kind::mismatch, "another version is not the rest");
  for (std::size_t i = 0; i < most_validators; ++i) {
    for (PartHead changed : {rest, head}) {
      if (head.versions[i].empty() || head.versions[i] == "another") continue;
      changed.versions[i] = "another";
      law(judged(changed) == Continuation::Kind::mismatch, "another version is not the rest");
      changed.versions[i] = {};
      if (!by_tag && !by_date)
        law(judged(changed) == Continuation::Kind::mismatch, "what proves a version has to be there");
    }
  }
}

void judge_download(const DownloadRequest& request, const PartHead& head, std::uint64_t chosen) {
  auto download = Download::begin(request, head);
  law(download.has_value() == Download::can_begin(request, head), "one answer to whether it can go on");
  if (!download) return;
  law(request.get && !request.has_body && !head.doubled && (head.status == 200 || head.status == 206),
      "only a plain GET");
  const auto part = parse_content_range(head.content_range);
  const std::uint64_t first = head.status == 206 ? part->first : 0;
  const std::uint64_t bytes = head.status == 206 ? part->bytes() : head.length;
  const std::uint64_t complete = head.status == 206 ? part->complete.value_or(part->last + 1) : head.length;
  if (head.end != BodyEnd::length && head.status == 200) return;
  if (bytes == 0) return;
  const std::uint64_t sent = chosen % bytes;
  const RangeAsked asked = download->ask(sent);
  law(download->has_rest(sent) && !download->has_rest(bytes), "there is a rest until all was sent");
  law(asked.range.first == first + sent, "what is asked for begins behind what was sent");
  law(!asked.range.last || *asked.range.last == first + bytes - 1, "and ends where the download ends");
  std::string text;
  const PartHead rest = rest_of(head, asked, first + bytes - 1, complete, text);
  Download copy = *download;
  const Continuation whole = copy.judge(rest, sent);
  law(whole.kind == Continuation::Kind::rest && whole.bytes == bytes - sent && whole.skip == 0,
      "the rest is the rest");
  std::string other_text;
  for (const std::uint64_t shift : {std::uint64_t{1}, sent}) {
    if (shift == 0 || shift > asked.range.first) continue;
    RangeAsked early = asked;
    early.range.first -= shift;
    copy = *download;
    law(copy.judge(rest_of(head, early, first + bytes - 1, complete, other_text), sent).kind !=
            Continuation::Kind::rest,
        "other bytes are not the rest");
  }
  judge_other_versions(*download, head, rest, asked, sent);
}

void judge_request_lines(std::string_view outgoing, const RangeAsked& asked) {
  std::string out;
  http::write_range_request(outgoing, asked, out);
  std::string twice;
  http::write_range_request(out, asked, twice);
  law(twice == out, "asking once more changes nothing");
  http::RequestHead before;
  http::RequestHead head;
  const std::string end = outgoing.ends_with("\r\n\r\n") ? "" : "\r\n";
  const std::string came = std::string(outgoing) + end;
  if (http::parse_request(came, {}, before) != http::Parsed{http::Progress::complete}) return;
  const std::string whole = out + end;
  law(http::parse_request(whole, {}, head) == http::Parsed{http::Progress::complete},
      "what is asked is a request");
  law(count_of(head.fields, "range") == 1 && count_of(head.fields, "if-match") == 0,
      "with one Range and no other condition");
  law(count_of(head.fields, "if-range") == (asked.if_range.empty() ? 0 : 1), "and one If-Range");
  law(same(head.framing, before.framing) && head.method == before.method && head.target == before.target,
      "and the same otherwise");
}

/// Checks a request head followed by a response head.
void judge_heads(std::string_view text) {
  http::RequestHead request;
  http::ResponseHead response;
  if (http::parse_request(text, {}, request) != http::Parsed{http::Progress::complete}) return;
  const std::size_t question = std::min(request.target.find('?'), request.target.size());
  const std::string_view query = request.target.substr(std::min(question + 1, request.target.size()));
  const DownloadRequest asked = http::read_download_request(request, query);
  law(asked.get == (request.method == "GET"), "a GET is one");
  judge_request_lines(text.substr(request.skipped, request.bytes - request.skipped),
                      {{mixed(text) % 1000, {}}, "\"tag\""});
  const std::string_view behind = text.substr(request.bytes);
  if (http::parse_response(behind, {}, request.method, response) != http::Parsed{http::Progress::complete})
    return;
  for (const std::vector<std::string>& validators :
       {std::vector<std::string>{"etag", "x-goog-generation", "x-amz-version-id"}, {"x-amz-version-id"}}) {
    judge_download(asked, http::read_part_head(response, validators, 1'700'000'000), mixed(text));
  }
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  judge_values(text);
  judge_heads(text);
  return 0;
}
