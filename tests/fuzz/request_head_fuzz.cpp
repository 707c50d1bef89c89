// Fuzz target: request heads. The parts that the parser reports for an accepted head match the input. They do
// not depend on the bytes after the head, or on how many bytes the parser got at a time.
#include "proxy/http/http1/parse.hpp"
#include "tests/fuzz/heads.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;

const Parsed complete = Progress::complete;
const Parsed partial = Progress::partial;
constexpr HeadLimits narrow{192, 5, 40};

/// Checks the framing against RFC 9112 6.3 alone.
void judge_framing(const RequestHead& head) {
  const std::size_t codings = count_of(head.fields, "transfer-encoding");
  const std::size_t lengths = count_of(head.fields, "content-length");
  law(codings == 0 || lengths == 0, "never both a length and a coding");
  law(codings <= 1, "one coding");
  law((head.framing.kind == Framing::Kind::chunked) == (codings == 1), "chunked if and only if it says so");
  law((head.framing.kind == Framing::Kind::length) == (lengths > 0), "a length if and only if it says so");
  law(head.framing.kind != Framing::Kind::until_close, "no request ends with its connection");
  for (const FieldLine& field : head.fields) {
    const std::string name = lowered(field.name);
    law(name != "content_length" && name != "transfer_encoding", "no look-alike of a framing field");
    if (name == "transfer-encoding")
      law(lowered(field.value) == "chunked", "the one coding is chunked, in any case");
    if (name != "content-length") continue;
    const std::size_t first = std::min(field.value.find_first_not_of('0'), field.value.size() - 1);
    law(std::to_string(head.framing.length) == field.value.substr(first),
        "the length is the number that is there");
  }
  law(head.minor_version == 1 || codings == 0, "HTTP/1.0 has no codings");
}

void judge_accepted(std::string_view text, const RequestHead& head, const HeadLimits& limits) {
  std::string spelled(text.substr(0, head.skipped));
  law(spelled.find_first_not_of("\r\n") == std::string::npos && spelled.size() <= 8,
      "only a few empty lines are skipped");
  spelled += request_line(head);
  // HTTP/1.2 to HTTP/1.9 are treated as 1.1.
  const char version = spelled.size() <= text.size() ? text[spelled.size() - 3] : '?';
  if (head.minor_version == 1 && version >= '2' && version <= '9') spelled[spelled.size() - 3] = version;
  for (const FieldLine& field : head.fields) {
    judge_line(field, false);
    spelled += field.line;
  }
  law(spelled + "\r\n" == text.substr(0, head.bytes), "every byte of a head is in one of its parts");
  law(head.bytes - head.skipped - request_line(head).size() <= limits.bytes &&
          head.fields.size() <= limits.fields && head.target.size() <= limits.target_bytes &&
          head.method.size() <= 32,
      "limits are kept");
  law(head.target.find_first_of(std::string_view(" \t\r\n#\0", 6)) == std::string_view::npos,
      "a target has no blanks");
  const std::size_t hosts = count_of(head.fields, "host");
  law(hosts == 1 || (hosts == 0 && head.minor_version == 0), "one Host");
  const bool close = contains(members_of(head.fields, "connection"), "close") ||
                     contains(members_of(head.fields, "proxy-connection"), "close");
  law(head.close == close && head.keep_alive() == (head.minor_version == 1 && !close), "close is heard");
  judge_framing(head);
}

/// Returns true if both verdicts are rejections and the text exceeds a size limit. The verdicts may then
/// differ: `early`, the verdict on a prefix of the text, may report the size, and `verdict` another fault.
bool is_cause_of_size(std::string_view text, const HeadLimits& limits, const Parsed& early,
                      const Parsed& verdict) {
  return text.size() > std::min(limits.bytes, limits.target_bytes) &&
         std::holds_alternative<Rejection>(early) && std::holds_alternative<Rejection>(verdict);
}

/// Checks that a prefix is partial or gets the same verdict as the whole text.
void judge_prefix(std::string_view text, std::size_t bytes, const HeadLimits& limits, const Parsed& verdict) {
  const Exact prefix(text.substr(0, bytes));
  RequestHead head;
  const Parsed early = parse_request(prefix.view(), limits, head);
  law(early == partial || early == verdict || is_cause_of_size(text, limits, early, verdict),
      "more bytes never change a verdict");
}

void judge_again(std::string_view text, const RequestHead& head, const HeadLimits& limits) {
  RequestHead again;
  const Exact alone(text.substr(0, head.bytes));
  law(parse_request(alone.view(), limits, again) == complete && again.bytes == head.bytes,
      "what follows is of no account");
  const Exact cut(text.substr(0, head.bytes - 1));
  law(parse_request(cut.view(), limits, again) == partial, "no head without its last byte");
  const std::string plain = request_line(head) + plain_fields(head.fields);
  law(parse_request(plain, {}, again) == complete, "the plain spelling is accepted too");
  law(same(again.framing, head.framing) && again.fields.size() == head.fields.size() &&
          again.close == head.close && again.expects_continue() == head.expects_continue(),
      "and means the same");
}

/// Checks that adding a long field does not change the verdict, although the framing guard parses large
/// buffers in another way.
void judge_padded(std::string_view text, const Parsed& verdict) {
  const std::size_t line = text.find("\r\nHost:");
  if (line == std::string_view::npos) return;
  std::string padded(text);
  padded.insert(line + 2, "X-Padding: " + std::string(2100, 'v') + "\r\n");
  RequestHead head;
  const Parsed other = parse_request(padded, {}, head);
  law(other == verdict || (std::holds_alternative<Rejection>(verdict) && other != complete),
      "a long field changes nothing");
}

void judge(std::string_view text, const HeadLimits& limits, RequestHead& used) {
  const Parsed verdict = parse_request(text, limits, used);
  RequestHead guarded;
  const Parsed guards = guard_request(text, limits, guarded);
  law(guards == verdict || guards == complete, "the second opinion only refuses");
  const std::uint64_t chosen = mixed(text);
  judge_prefix(text, (chosen >> 8U) % (text.size() + 1), limits, verdict);
  if (verdict != complete) return;
  law(same(used.framing, guarded.framing) && used.bytes == guarded.bytes,
      "a head that is filled again is as new");
  judge_accepted(text, used, limits);
  if (chosen % 2 == 0) judge_again(text, used, limits);
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  namespace fuzz = reprise::fuzz;
  static reprise::http::RequestHead used;
  const std::string_view text = fuzz::Input(bytes, size).rest();
  fuzz::judge(text, {}, used);
  if (fuzz::mixed(text) % 8 == 1) fuzz::judge(text, fuzz::narrow, used);
  if (fuzz::mixed(text) % 16 == 2) fuzz::judge_padded(text, reprise::http::parse_request(text, {}, used));
  return 0;
}
