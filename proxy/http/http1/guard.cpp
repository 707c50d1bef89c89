// Judges the framing fields of a head, and rejects ambiguous heads.
#include "proxy/http/http1/guard.hpp"

#include "proxy/http/http1/codings.hpp"
#include "proxy/http/http1/scanner.hpp"
#include "proxy/http/http1/start_line.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/target.hpp"

namespace reprise::http {
namespace {

using Refusal = std::optional<Rejection>;

/// The numbers and values of the framing fields, in the part of a head that was read so far.
struct Tally {
  unsigned hosts = 0;
  unsigned expectations = 0;
  Codings codings;
  std::optional<std::uint64_t> length;
  std::string_view host;
  std::string_view expectation;
  bool close = false;
  bool keep_alive = false;

  Refusal add_length(std::optional<std::uint64_t> value) {
    if (!value) return Rejection::bad_content_length;
    if (length && *length != *value) return Rejection::conflicting_content_length;
    length = value;
    return std::nullopt;
  }
  void add_connection(std::string_view value) {
    ascii::for_each_member(value, [this](std::string_view option) {
      close = close || ascii::same(option, "close");
      keep_alive = keep_alive || ascii::same(option, "keep-alive");
    });
  }
};

Refusal count_request_field(const FieldLine& field, Tally& tally) {
  switch (field.id) {
    case FieldId::host:
      ++tally.hosts;
      tally.host = field.value;
      break;
    case FieldId::content_length: return tally.add_length(read_content_length(field.value));
    case FieldId::transfer_encoding: tally.codings.add(field.value); break;
    case FieldId::expect:
      ++tally.expectations;
      tally.expectation = field.value;
      break;
    case FieldId::connection:
    case FieldId::proxy_connection: tally.add_connection(field.value); break;
    case FieldId::other:
      if (is_lookalike(field.name)) return Rejection::lookalike_framing_field;
      break;
    case FieldId::date:
    case FieldId::keep_alive:
    case FieldId::max_forwards:
    case FieldId::proxy_authenticate:
    case FieldId::proxy_authorization:
    case FieldId::proxy_status:
    case FieldId::reprise:
    case FieldId::retry_after:
    case FieldId::te:
    case FieldId::trailer:
    case FieldId::upgrade:
    case FieldId::via: break;
  }
  return std::nullopt;
}

Refusal judge_host(const RequestHead& head, const Tally& tally) {
  if (tally.hosts > 1) return Rejection::repeated_host;
  if (tally.hosts == 0) return head.minor_version == 0 ? Refusal{} : Refusal{Rejection::missing_host};
  if (std::holds_alternative<Rejection>(split_authority(tally.host, 80))) return Rejection::bad_host;
  return std::nullopt;
}

/// Judges the Expect field (row C2). Ignores it in HTTP/1.0, which does not define expectations.
Refusal judge_expectation(const RequestHead& head, const Tally& tally) {
  if (head.minor_version == 0 || tally.expectations == 0) return std::nullopt;
  if (tally.expectations > 1) return Rejection::bad_field_value;
  if (tally.expectation.empty() || ascii::same(tally.expectation, "100-continue")) return std::nullopt;
  return Rejection::bad_expect;
}

Refusal judge_request_framing(RequestHead& head, const Tally& tally) {
  head.framing = {};
  if (tally.codings.count > 0) {
    if (tally.length) return Rejection::length_and_chunked;
    if (head.minor_version == 0) return Rejection::chunked_in_http_1_0;
    if (const Refusal refusal = tally.codings.judge()) return refusal;
    head.framing.kind = Framing::Kind::chunked;
  } else if (tally.length) {
    head.framing = {Framing::Kind::length, *tally.length};
  }
  return std::nullopt;
}

Refusal judge_request(RequestHead& head) {
  Tally tally;
  for (const FieldLine& field : head.fields) {
    if (const Refusal refusal = count_request_field(field, tally)) return refusal;
  }
  head.close = tally.close;
  if (const Refusal refusal = judge_request_framing(head, tally)) return refusal;
  if (const Refusal refusal = judge_host(head, tally)) return refusal;
  return judge_expectation(head, tally);
}

/// Reads a request head. Sets `fields_at` to the offset of the fields once the request line is complete.
Halt scan_request(Cursor& cursor, const HeadLimits& limits, RequestHead& head,
                  std::optional<std::size_t>& fields_at) {
  if (Halt halt = skip_empty_lines(cursor)) return halt;
  head.skipped = head.bytes - static_cast<std::size_t>(cursor.end - cursor.at);
  if (Halt halt = scan_request_line(cursor, limits.target_bytes, head)) return halt;
  fields_at = head.bytes - static_cast<std::size_t>(cursor.end - cursor.at);
  return scan_fields(cursor, limits.fields, Spelling::strict, head.fields);
}

bool is_token_list(std::string_view value) {
  bool tokens = true;
  ascii::for_each_member(value,
                         [&tokens](std::string_view member) { tokens = tokens && ascii::is_token(member); });
  return tokens;
}

Refusal count_response_field(const FieldLine& field, Tally& tally, Oddities& oddities) {
  const bool blank = field.line[field.name.size()] != ':';
  oddities.blank_before_colon = oddities.blank_before_colon || blank;
  switch (field.id) {
    case FieldId::content_length:
      if (blank) return Rejection::bad_field_name;
      return tally.add_length(read_content_length_list(field.value));
    case FieldId::transfer_encoding:
      if (blank) return Rejection::bad_field_name;
      tally.codings.add_but_identity(field.value);
      break;
    case FieldId::connection:
    case FieldId::proxy_connection:
      oddities.odd_connection = oddities.odd_connection || !is_token_list(field.value);
      tally.add_connection(field.value);
      break;
    case FieldId::other:
    case FieldId::date:
    case FieldId::expect:
    case FieldId::host:
    case FieldId::keep_alive:
    case FieldId::max_forwards:
    case FieldId::proxy_authenticate:
    case FieldId::proxy_authorization:
    case FieldId::proxy_status:
    case FieldId::reprise:
    case FieldId::retry_after:
    case FieldId::te:
    case FieldId::trailer:
    case FieldId::upgrade:
    case FieldId::via: break;
  }
  return std::nullopt;
}

/// Replaces all Transfer-Encoding fields with one `chunked` line, or removes them if the body is not chunked.
void drop_identity(std::vector<FieldLine>& fields, bool chunked) {
  std::erase_if(fields, [](const FieldLine& field) { return field.id == FieldId::transfer_encoding; });
  if (!chunked) return;
  constexpr std::string_view line = "Transfer-Encoding: chunked\r\n";
  fields.push_back({line.substr(0, 17), line.substr(19, 7), line, FieldId::transfer_encoding});
}

/// Returns true for responses without a body (RFC 9112 6.3, items 1 and 2).
bool ends_with_head(int status, std::string_view request_method) {
  return status < 200 || status == 204 || status == 304 || request_method == "HEAD" ||
         (request_method == "CONNECT" && status < 300);
}

Refusal judge_response(std::string_view request_method, ResponseHead& head, Oddities& oddities) {
  Tally tally;
  for (const FieldLine& field : head.fields) {
    if (const Refusal refusal = count_response_field(field, tally, oddities)) return refusal;
  }
  head.framing = {};
  head.close = tally.close || (head.minor_version == 0 && !tally.keep_alive);
  head.reusable = !head.close;
  if (tally.codings.count > 0) {
    if (const Refusal refusal = tally.codings.judge()) return refusal;
    oddities.length_and_chunked = tally.length.has_value();
    // A connection is not reused if the response has Content-Length and Transfer-Encoding, or is in HTTP/1.0.
    // HTTP/1.0 has no transfer codings, but old servers send them (row N24).
    if (tally.length || head.minor_version == 0) head.reusable = false;
  }
  oddities.identity_coding = tally.codings.identity;
  if (tally.codings.identity) drop_identity(head.fields, tally.codings.count > 0);
  if (ends_with_head(head.status, request_method)) {
    const bool must_not_frame = head.status < 200 || head.status == 204;
    if (must_not_frame && (tally.codings.count > 0 || tally.length)) head.reusable = false;
  } else if (tally.codings.count > 0) {
    head.framing.kind = Framing::Kind::chunked;
  } else if (tally.length) {
    head.framing = {Framing::Kind::length, *tally.length};
  } else {
    head.framing.kind = Framing::Kind::until_close;
    head.reusable = false;
  }
  return std::nullopt;
}

Halt scan_response(Cursor& cursor, const HeadLimits& limits, ResponseHead& head) {
  head.fields.clear();
  if (Halt halt = scan_status_line(cursor, head)) return halt;
  return scan_fields(cursor, limits.fields, Spelling::tolerant, head.fields);
}

/// First byte of a TLS record with a ClientHello (RFC 8446 5.1). No method begins with it.
constexpr char tls_handshake_record = 0x16;

/// Converts the result of a scan into the result of parsing a head. An incomplete head over `limit` is
/// rejected as header_too_large; a malformed head keeps its own cause. `limit` applies to the bytes from
/// `counted_from` on.
template <class Head>
std::optional<Parsed> settle(const Halt& halt, const Cursor& cursor, std::string_view buffer,
                             std::size_t counted_from, std::size_t limit, Head& head) {
  if (halt) {
    const bool partial = *halt == Parsed{Progress::partial};
    return partial && buffer.size() - counted_from >= limit ? Parsed{Rejection::header_too_large} : *halt;
  }
  head.bytes = buffer.size() - static_cast<std::size_t>(cursor.end - cursor.at);
  if (head.bytes - counted_from > limit) return Parsed{Rejection::header_too_large};
  return std::nullopt;
}

}  // namespace

bool spells_framing_field_with_underscore(std::string_view name) {
  const auto equal = [name](std::string_view framing_name) {
    if (name.size() != framing_name.size()) return false;
    for (std::size_t i = 0; i < name.size(); ++i) {
      if (ascii::lower(name[i] == '_' ? '-' : name[i]) != framing_name[i]) return false;
    }
    return true;
  };
  return (equal(content_length_name) || equal(transfer_encoding_name)) &&
         name.find('_') != std::string_view::npos;
}

std::optional<std::uint64_t> read_content_length(std::string_view value) { return ascii::decimal(value); }

std::optional<std::uint64_t> read_content_length_list(std::string_view value) {
  std::optional<std::uint64_t> length;
  while (true) {
    const std::size_t comma = value.find(',');
    const std::optional<std::uint64_t> member = ascii::decimal(ascii::trim(value.substr(0, comma)));
    if (!member || (length && *length != *member)) return std::nullopt;
    length = member;
    if (comma == std::string_view::npos) return length;
    value.remove_prefix(comma + 1);
  }
}

Parsed guard_request(std::string_view buffer, const HeadLimits& limits, RequestHead& head) {
  head.reset();
  head.skipped = 0;
  if (buffer.starts_with(tls_handshake_record)) return Rejection::tls_to_plain_listener;
  if (buffer.size() < limits.bytes && worth_waiting(buffer, limits.target_bytes, Spelling::strict))
    return Progress::partial;
  head.bytes = buffer.size();
  Cursor cursor{buffer.data(), buffer.data() + buffer.size()};
  std::optional<std::size_t> fields_at;
  const Halt halt = scan_request(cursor, limits, head, fields_at);
  // While the request line is incomplete, limits.target_bytes applies, and no byte counts towards
  // limits.bytes.
  const std::size_t counted_from = fields_at.value_or(buffer.size());
  if (const auto ended = settle(halt, cursor, buffer, counted_from, limits.bytes, head)) return *ended;
  if (const Refusal refusal = judge_request(head)) return *refusal;
  return Progress::complete;
}

Parsed guard_response(std::string_view buffer, const HeadLimits& limits, std::string_view request_method,
                      ResponseHead& head, Oddities& oddities) {
  head.reset();
  oddities = {};
  head.clean.clear();
  if (buffer.size() < limits.bytes && worth_waiting(buffer, limits.bytes, Spelling::tolerant))
    return Progress::partial;
  Cursor cursor{buffer.data(), buffer.data() + buffer.size()};
  const Halt halt = scan_response(cursor, limits, head);
  if (const auto ended = settle(halt, cursor, buffer, 0, limits.bytes, head)) return *ended;
  if (cursor.loose) {
    write_clean_head(buffer.substr(0, head.bytes), head.clean);
    Cursor again{head.clean.data(), head.clean.data() + head.clean.size()};
    if (const Halt changed = scan_response(again, limits, head)) return *changed;
  }
  oddities.no_space_after_status = head.reason.data() == head.text(buffer).data() + 12;
  if (const Refusal refusal = judge_response(request_method, head, oddities)) return *refusal;
  return Progress::complete;
}

}  // namespace reprise::http
