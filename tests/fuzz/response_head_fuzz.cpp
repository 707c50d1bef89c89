// Fuzz target: response heads. An accepted head has one framing, and a connection is reused only if that
// framing is free of faults.
#include <array>

#include "proxy/http/http1/parse.hpp"
#include "tests/fuzz/heads.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;

const Parsed complete = Progress::complete;
const Parsed partial = Progress::partial;
constexpr HeadLimits narrow{160, 4, 16 * 1024};
constexpr std::array<std::string_view, 4> methods{"GET", "HEAD", "CONNECT", "POST"};

bool ends_with_head(int status, std::string_view method) {
  const bool bodiless = status / 100 == 1 || status == 204 || status == 304;
  return bodiless || method == "HEAD" || (method == "CONNECT" && status / 100 == 2);
}

/// Checks the framing against RFC 9112 6.3, in the order of that section.
void judge_framing(const ResponseHead& head, std::string_view method) {
  const std::size_t codings = count_of(head.fields, "transfer-encoding");
  const std::size_t lengths = count_of(head.fields, "content-length");
  Framing::Kind kind = Framing::Kind::until_close;
  if (lengths > 0) kind = Framing::Kind::length;
  if (codings > 0) kind = Framing::Kind::chunked;
  if (ends_with_head(head.status, method)) kind = Framing::Kind::none;
  law(head.framing.kind == kind, "the framing is that of RFC 9112 6.3");
  law(codings <= 1, "one coding");
  law(codings == 0 || head.minor_version == 1 || !head.reusable, "HTTP/1.0 with a coding is not used again");
  for (const FieldLine& field : head.fields) {
    const std::string name = lowered(field.name);
    const bool frames = name == "transfer-encoding" || name == "content-length";
    law(!frames || field.line[field.name.size()] == ':', "no blank before the colon of a framing field");
    if (name == "transfer-encoding") law(lowered(field.value) == "chunked", "the one coding is chunked");
    if (name != "content-length" || kind != Framing::Kind::length) continue;
    for (const std::string& member : members(field.value)) {
      const std::size_t first = std::min(member.find_first_not_of('0'), member.size() - 1);
      law(std::to_string(head.framing.length) == member.substr(first), "all lengths are the same number");
    }
  }
}

void judge_reuse(const ResponseHead& head) {
  const bool codings = count_of(head.fields, "transfer-encoding") > 0;
  const bool lengths = count_of(head.fields, "content-length") > 0;
  const std::vector<std::string> options = members_of(head.fields, "connection");
  const bool must_not_frame = head.status / 100 == 1 || head.status == 204;
  if (!head.reusable) return;
  law(!contains(options, "close"), "no reuse after close");
  law(head.framing.kind != Framing::Kind::until_close, "no reuse where the end is the close");
  law(!codings || !lengths, "no reuse after both a length and a coding");
  law(!must_not_frame || (!codings && !lengths), "no reuse after framing fields where none may be");
  law(head.minor_version == 1 || contains(options, "keep-alive") ||
          contains(members_of(head.fields, "proxy-connection"), "keep-alive"),
      "HTTP/1.0 stays only where it says so");
}

/// Returns true if the text contains `identity`. In this case the proxy may have rewritten a
/// Transfer-Encoding.
bool may_list_identity(std::string_view text) { return lowered(text).find("identity") != std::string::npos; }

/// Checks that an accepted head is unchanged or normalised, and that normalising it again changes nothing.
void judge_cleaning(std::string_view came, const ResponseHead& head, std::string_view method) {
  const std::string clean = made_clean(came);
  law(head.text(came) == clean, "a head is made clean, and nothing else of it is changed");
  law(head.clean.empty() == (clean == came), "only what is not clean is copied");
  if (head.clean.empty()) return;
  ResponseHead again;
  law(parse_response(clean, {1 << 20, 1 << 10, 1 << 16}, method, again) == complete && again.clean.empty(),
      "what was made clean is accepted as it is");
  law(again.bytes == clean.size() && again.status == head.status && again.reason == head.reason &&
          again.minor_version == head.minor_version && same(again.framing, head.framing) &&
          again.reusable == head.reusable,
      "and means the same");
  law(std::equal(again.fields.begin(), again.fields.end(), head.fields.begin(), head.fields.end(),
                 [](const FieldLine& a, const FieldLine& b) {
                   return a.name == b.name && a.value == b.value && a.line == b.line && a.id == b.id;
                 }),
      "with the same fields");
}

std::size_t lines_of(std::string_view came) {
  return static_cast<std::size_t>(std::count(came.begin(), came.end(), '\n'));
}

void judge_accepted(std::string_view came, const ResponseHead& head, const HeadLimits& limits) {
  const std::string_view text = head.text(came);
  std::string start = head.minor_version == 1 ? "HTTP/1.1 " : "HTTP/1.0 ";
  start += std::to_string(head.status);
  law(text.starts_with(start) && start.size() == 12, "the status line is there");
  law(head.status >= 100 && head.status <= 999 && !has_control(head.reason), "a status is one");
  law(lies_in(head.reason, text), "the reason is a part of the text");
  const bool blank = text[12] == ' ';
  law(blank || head.reason.empty(), "a reason has its blank");
  std::string spelled = start.append(blank ? " " : "").append(head.reason).append("\r\n");
  for (const FieldLine& field : head.fields) {
    judge_line(field, true);
    spelled += field.line;
  }
  law(spelled + "\r\n" == text || may_list_identity(text), "every byte of a head is in one of its parts");
  law(head.bytes <= limits.bytes && lines_of(came.substr(0, head.bytes)) <= limits.fields + 2,
      "limits are kept");
}

void judge_again(std::string_view text, const ResponseHead& head, std::string_view method,
                 const HeadLimits& limits) {
  ResponseHead again;
  const Exact alone(text.substr(0, head.bytes));
  law(parse_response(alone.view(), limits, method, again) == complete && again.bytes == head.bytes,
      "what follows is of no account");
  const Exact cut(text.substr(0, head.bytes - 1));
  law(parse_response(cut.view(), limits, method, again) == partial,
      "no head without its last byte (row B12)");
  std::string plain = head.minor_version == 1 ? "HTTP/1.1 " : "HTTP/1.0 ";
  plain.append(std::to_string(head.status)).append(" ").append(head.reason).append("\r\n");
  plain += plain_fields(head.fields);
  law(parse_response(plain, {}, method, again) == complete && again.clean.empty(),
      "the plain spelling is accepted too");
  law(same(again.framing, head.framing) && again.reusable == head.reusable && again.status == head.status &&
          again.fields.size() == head.fields.size(),
      "and means the same");
}

void judge(std::string_view text, std::string_view method, const HeadLimits& limits, ResponseHead& used) {
  const Parsed verdict = parse_response(text, limits, method, used);
  ResponseHead guarded;
  Oddities oddities;
  const Parsed guards = guard_response(text, limits, method, guarded, oddities);
  law(guards == verdict || guards == complete, "the second opinion only refuses");
  const std::uint64_t chosen = mixed(text);
  const Exact prefix(text.substr(0, (chosen >> 8U) % (text.size() + 1)));
  ResponseHead head;
  const Parsed early = parse_response(prefix.view(), limits, method, head);
  const bool for_size = text.size() > limits.bytes && std::holds_alternative<Rejection>(early) &&
                        std::holds_alternative<Rejection>(verdict);
  law(early == partial || early == verdict || for_size, "more bytes never change a verdict");
  if (verdict != complete) return;
  law(same(used.framing, guarded.framing) && used.bytes == guarded.bytes,
      "a head that is filled again is as new");
  judge_cleaning(text.substr(0, used.bytes), used, method);
  judge_accepted(text, used, limits);
  judge_framing(used, method);
  judge_reuse(used);
  if (chosen % 2 == 0) judge_again(text, used, method, limits);
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  namespace fuzz = reprise::fuzz;
  static reprise::http::ResponseHead used;
  const std::string_view text = fuzz::Input(bytes, size).rest();
  const std::uint64_t chosen = fuzz::mixed(text);
  fuzz::judge(text, fuzz::methods[0], {}, used);
  if (chosen % 3 == 0) fuzz::judge(text, fuzz::methods[1 + chosen / 3 % 3], {}, used);
  if (chosen % 8 == 1) fuzz::judge(text, fuzz::methods[0], fuzz::narrow, used);
  return 0;
}
