// Fuzz target: fields, Connection, hop-by-hop fields, rewriting. A rewritten head can be parsed again and has
// no hop-by-hop field of the incoming connection. Every other line is kept byte for byte and in order.
#include <array>

#include "proxy/http/http1/chunked.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/message/hop_by_hop.hpp"
#include "proxy/http/message/via.hpp"
#include "tests/fuzz/heads.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;

constexpr std::string_view pseudonym = "reprise-x1";
const Parsed complete = Progress::complete;
using Lines = std::vector<FieldLine>;

/// Returns true for fields that are hop-by-hop even if Connection does not list them (RFC 9110 7.6.1).
bool is_hop_by_hop(std::string_view name) {
  for (const char* const known : {"connection", "keep-alive", "proxy-connection", "te", "transfer-encoding",
                                  "upgrade", "proxy-authorization", "proxy-authenticate"}) {
    if (name == known) return true;
  }
  return false;
}

/// Returns true for fields that Connection must never remove (row J1).
bool is_protected(std::string_view name) {
  for (const char* const known :
       {"host", "content-length", "transfer-encoding", "authorization", "cookie", "set-cookie",
        "cache-control", "content-type", "via", "expect", "range", "if-match"}) {
    if (name == known) return true;
  }
  return false;
}

/// Returns true for fields that may stay although Connection lists their names: end-to-end fields, and names
/// that are an option of Connection, such as `close`.
bool may_stay(std::string_view name) {
  for (const char* const prefix : {"content-", "if-", "x-forwarded-", "sec-websocket-"}) {
    if (name.starts_with(prefix)) return true;
  }
  for (const char* const known : {"www-authenticate", "expires", "pragma", "vary", "age", "date", "etag",
                                  "last-modified", "location", "max-forwards", "origin", "referer",
                                  "retry-after", "forwarded", "idempotency-key", "close", "trailer"}) {
    if (name == known) return true;
  }
  return is_protected(name);
}

/// Returns true for fields that the proxy writes itself or removes for another reason.
bool is_rewritten(std::string_view name, bool request) {
  if (name == "content-length" || name == "trailer") return true;
  if (!request) return name == "alt-svc" || name.starts_with("reprise-");
  return name == "host" || name == "expect" || name == "max-forwards" || name == "reprise-attempt";
}

std::string spelled(const FieldLine& field) {
  return field.line[field.name.size()] == ':'
             ? std::string(field.line)
             : std::string(field.name).append(": ").append(field.value).append("\r\n");
}

/// Checks that the outgoing head has every incoming line that must not be removed, in the same order.
void judge_kept(const Lines& came, const Lines& out, bool request) {
  const std::vector<std::string> named = members_of(came, "connection");
  std::size_t at = 0;
  for (const FieldLine& field : came) {
    const std::string name = lowered(field.name);
    const bool may_go =
        is_hop_by_hop(name) || is_rewritten(name, request) || (contains(named, name) && !is_protected(name));
    std::size_t found = at;
    while (found < out.size() && out[found].line != spelled(field)) ++found;
    if (!may_go)
      law(found < out.size(), "a line that is for the other end stays, byte for byte and in its order");
    if (!may_go) at = found + 1;
  }
}

/// Checks that no hop-by-hop field of the incoming connection remains, and that the outgoing hop-by-hop
/// fields have the proxy's own values.
void judge_hop(const Lines& came, const Lines& out, bool upgrades) {
  const std::vector<std::string> named = members_of(came, "connection");
  for (const FieldLine& field : out) {
    const std::string name = lowered(field.name);
    const bool ours = (name == "transfer-encoding" && field.value == "chunked") ||
                      (name == "te" && field.value == "trailers") ||
                      (name == "connection" && (field.value == "TE" || field.value == "close" || upgrades)) ||
                      (name == "upgrade" && upgrades);
    law(!is_hop_by_hop(name) || ours, "no field of the other hop");
    law(!contains(named, name) || ours || may_stay(name), "no field that Connection names");
  }
  for (const char* const own : {"connection", "transfer-encoding", "te"})
    law(count_of(out, own) <= 1, "each of ours once");
}

void judge_request_out(const RequestHead& head, const Forward& forward, bool upgrades, std::string_view out) {
  RequestHead again;
  law(parse_request(out, {}, again) == complete && again.bytes == out.size(),
      "what goes upstream is one head");
  law(same(again.framing, head.framing) && again.minor_version == 1, "with the framing that came");
  judge_kept(head.fields, again.fields, true);
  judge_hop(head.fields, again.fields, upgrades);
  law(again.fields.size() <= head.fields.size() + 5, "a few lines are added at most");
  law(count_of(again.fields, "host") == 1 && count_of(again.fields, "content-length") <= 1,
      "one Host, one length");
  law(has_looped(again, pseudonym), "it carries our Via");
  law(again.fields.back().id == FieldId::via, "which comes last");
  if (!forward.host_field.empty())
    law(again.fields[0].value == forward.host_field, "a Host of ours comes first");
  for (const FieldLine& field : again.fields)
    law(lowered(field.name) != "reprise-attempt", "no attempt of another hop");
  std::string second;
  write_request_head(again, {"h", 80, "h", false, {}, std::get<Target>(split_origin(again.target))},
                     pseudonym, false, second);
  second += "\r\n";
  RequestHead third;
  law(parse_request(second, {}, third) == complete && same(third.framing, head.framing),
      "a second hop agrees");
  if (!upgrades) judge_kept(again.fields, third.fields, true);
}

void judge_request(std::string_view text) {
  RequestHead head;
  if (parse_request(text, {1 << 20, 120, 1 << 16}, head) != complete) return;
  const bool upgrades = asks_upgrade(head, ToH2c::dropped);
  if (upgrades)
    law(contains(members_of(head.fields, "connection"), "upgrade"), "an upgrade is named by Connection");
  const Intake forward = take_forward(head, {});
  const Intake gateway = take_gateway(head, {"h", 80, false, {}});
  const Forward* taken = std::get_if<Forward>(&forward);
  if (taken == nullptr) taken = std::get_if<Forward>(&gateway);
  if (taken == nullptr) return;
  for (const bool keep : {false, upgrades}) {
    std::string out;
    write_request_head(head, *taken, pseudonym, keep, out);
    judge_request_out(head, *taken, keep, out + "\r\n");
  }
  static_cast<void>(is_nested_retry(head));
}

void judge_response_out(const ResponseHead& head, const ResponseRewrite& rewrite, std::string_view out) {
  ResponseHead again;
  law(parse_response(out, {1 << 20, 256, 1 << 16}, "GET", again) == complete && again.bytes == out.size(),
      "what goes to the client is one head");
  law(again.status == head.status && again.reason == head.reason, "with the status that came");
  judge_kept(head.fields, again.fields, false);
  const bool old = rewrite.client_minor_version == 0;
  const bool tells_upgrade =
      !old && (head.status == 101 || head.status >= 200) && count_of(head.fields, "upgrade") > 0;
  judge_hop(head.fields, again.fields, tells_upgrade);
  const bool bodiless = head.status / 100 == 1 || head.status == 204;
  law(count_of(again.fields, "transfer-encoding") == (rewrite.chunked && !old ? 1 : 0),
      "chunked only where it was asked for");
  law(!bodiless || count_of(again.fields, "content-length") == 0, "no length where none may be (row B1)");
  law(head.status / 100 == 1 || count_of(again.fields, "date") >= 1, "a final response has a date");
  law(((old || rewrite.close) && head.status != 101) ==
          contains(members_of(again.fields, "connection"), "close"),
      "close where it was asked for");
  law(!rewrite.drop_alt_svc || count_of(again.fields, "alt-svc") == 0, "no way around the proxy");
  for (const FieldLine& field : again.fields)
    law(field.id != FieldId::reprise, "no field of an inner proxy of our kind");
}

void judge_response(std::string_view text, std::uint64_t chosen) {
  ResponseHead head;
  if (parse_response(text, {1 << 20, 120, 1 << 16}, "GET", head) != complete) return;
  ResponseRewrite rewrite;
  rewrite.client_minor_version = chosen % 4 == 0 ? 0 : 1;
  rewrite.close = chosen % 3 == 0;
  rewrite.chunked =
      head.framing.kind == Framing::Kind::chunked || head.framing.kind == Framing::Kind::until_close;
  rewrite.via_pseudonym = pseudonym;
  rewrite.date = "Sun, 06 Nov 1994 08:49:37 GMT";
  rewrite.drop_alt_svc = chosen % 2 == 0;
  std::string out;
  write_response_head(head, rewrite, out);
  judge_response_out(head, rewrite, out);
  // Writes the same lines as trailers, and then writes the result again. The second pass must not remove any
  // further field.
  std::string lines;
  for (const FieldLine& field : head.fields) lines += spelled(field);
  std::string kept;
  append_trailers(lines, head.fields, kept);
  std::string once;
  append_trailers(kept, head.fields, once);
  law(once == kept && kept.size() <= lines.size(), "trailers are left out once");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  if (text.starts_with("HTTP/")) {
    judge_response(text, mixed(text));
  } else {
    judge_request(text);
  }
  return 0;
}
