// Reads the fields of downloads, and changes a request head to ask for a range.
#include "proxy/http/retry_hints/download.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/hop_by_hop.hpp"
#include "proxy/http/retry_hints/date.hpp"
#include "proxy/http/retry_hints/signature.hpp"

namespace reprise::http {
namespace {

using policy::BodyEnd;

constexpr std::string_view etag = "etag";

/// Stores the value of a field. Sets `doubled` if a value was stored before.
void keep(std::string_view value, std::string_view& place, bool& doubled) {
  if (place.data() != nullptr) doubled = true;
  place = value;
}

BodyEnd body_end(Framing::Kind kind) {
  switch (kind) {
    case Framing::Kind::length: return BodyEnd::length;
    case Framing::Kind::chunked: return BodyEnd::last_chunk;
    case Framing::Kind::until_close: return BodyEnd::close;
    case Framing::Kind::none: break;
  }
  return BodyEnd::none;
}

bool is_replaced(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  return std::any_of(range_fields.begin(), range_fields.end(),
                     [name](std::string_view each) { return ascii::same(each, name); });
}

// Removes an upgrade from a line of the request head. The response was not a 101, so it has declined the
// upgrade (RFC 9110 7.8), and later requests do not repeat the offer. Recognises Connection only in the form
// that write_request_head writes.
std::string_view without_upgrade(std::string_view line) {
  if (line == "Connection: upgrade\r\n" || ascii::starts_with(line, "Upgrade:")) return {};
  return line == "Connection: TE, upgrade\r\n" ? "Connection: TE\r\n" : line;
}

void append_range_lines(const policy::RangeAsked& asked, std::string& out) {
  const std::string last = asked.range.last ? std::to_string(*asked.range.last) : std::string();
  ascii::append(out, "Range: bytes=", std::to_string(asked.range.first), "-", last, "\r\n");
  if (!asked.if_range.empty()) ascii::append(out, "If-Range: ", asked.if_range, "\r\n");
}

// Stores the value of a field at the position of its name in `validators`.
void keep_version(const FieldLine& field, const std::vector<std::string>& validators,
                  policy::PartHead& part) {
  for (std::size_t i = 0; i < validators.size(); ++i) {
    if (ascii::same(field.name, validators[i]) && validators[i] != etag)
      keep(field.value, part.versions[i], part.doubled);
  }
}

}  // namespace

policy::DownloadRequest read_download_request(const RequestHead& head, std::string_view query) {
  policy::DownloadRequest request;
  request.get = head.method == "GET";
  request.has_body = head.framing.kind == Framing::Kind::chunked || head.framing.length > 0;
  std::string_view condition;
  for (const FieldLine& field : head.fields) {
    if (ascii::same(field.name, "range")) keep(field.value, request.range, request.doubled);
    if (ascii::same(field.name, "if-range")) keep(field.value, condition, request.doubled);
  }
  request.conditional = condition.data() != nullptr;
  request.fields_signed = signs_range_fields(head, query);
  return request;
}

policy::PartHead read_part_head(const ResponseHead& head, const std::vector<std::string>& validators,
                                std::int64_t now_unix) {
  policy::PartHead part;
  part.status = head.status;
  part.end = body_end(head.framing.kind);
  part.length = head.framing.length;
  const std::array<std::pair<std::string_view, std::string_view*>, 5> places{{
      {etag, &part.entity_tag},
      {"last-modified", &part.last_modified},
      {"content-range", &part.content_range},
      {"content-type", &part.content_type},
      {"content-encoding", &part.content_encoding},
  }};
  for (const FieldLine& field : head.fields) {
    if (field.id == FieldId::trailer) part.has_trailer = true;
    if (field.id != FieldId::other) continue;
    for (const auto& [name, place] : places) {
      if (ascii::same(field.name, name)) keep(field.value, *place, part.doubled);
    }
    keep_version(field, validators, part);
  }
  const NamedByConnection named(head.fields);
  for (std::size_t i = 0; i < validators.size(); ++i) {
    if (named.removes(validators[i])) part.versions[i] = {};
  }
  part.uses_tags = std::find(validators.begin(), validators.end(), etag) != validators.end();
  part.last_modified_at = parse_date(part.last_modified, now_unix);
  if (const FieldLine* date = head.find(FieldId::date)) part.date = parse_date(date->value, now_unix);
  return part;
}

void write_range_request(std::string_view outgoing, const policy::RangeAsked& asked, std::string& out) {
  bool ended = false;
  for (bool first = true; !outgoing.empty(); first = false) {
    const std::string_view line = outgoing.substr(0, outgoing.find("\r\n") + 2);
    outgoing.remove_prefix(line.size());
    if (line == "\r\n") {
      append_range_lines(asked, out);
      out += line;
      ended = true;
    } else if (first) {
      out += line;
    } else if (!is_replaced(line)) {
      out += without_upgrade(line);
    }
  }
  if (!ended) append_range_lines(asked, out);
}

}  // namespace reprise::http
