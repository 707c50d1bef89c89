// Fuzz target: parses the same bytes with three parsers. These are the proxy's own (its framing guard and
// chunk decoder), Boost.Beast, and a strict parser. Two parsers that accept a message must frame it in the
// same way.
#include <array>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "proxy/http/http1/chunked.hpp"
#include "proxy/http/http1/guard.hpp"
#include "proxy/http/http1/parse.hpp"
#include "tests/fuzz/heads.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/strict_framing.hpp"

namespace reprise::fuzz {
namespace {

namespace beast = boost::beast;
using State = Message::State;
using Body = Message::Body;
using http::Framing;

/// Counts the results for all messages of this run. The destructor prints the counts.
struct Tally {
  ~Tally() {
    std::fprintf(stderr,
                 "readings: %llu messages, %llu whole to all, %llu refused by the guard that Beast takes, ",
                 messages, agreed, beast_alone);
    std::fprintf(stderr, "%llu that the strict reading takes, %llu refused by the second opinion\n",
                 strict_alone, second);
  }
  unsigned long long messages = 0;
  unsigned long long agreed = 0;
  unsigned long long beast_alone = 0;
  unsigned long long strict_alone = 0;
  unsigned long long second = 0;
};
Tally tally;

Body kind_of(Framing::Kind kind) {
  switch (kind) {
    case Framing::Kind::none: return Body::none;
    case Framing::Kind::length: return Body::length;
    case Framing::Kind::chunked: return Body::chunked;
    case Framing::Kind::until_close: break;
  }
  return Body::until_close;
}

/// Decodes a chunked body. Feeds the decoder in two halves.
void take_chunks(std::string_view text, http::Spelling trailers, Message& message) {
  http::ChunkDecoder decoder(trailers);
  std::size_t at = 0;
  std::size_t limit = text.size() / 2;
  while (true) {
    const http::ChunkDecoder::Step step = decoder.step(text.substr(at, limit - at));
    at += step.consumed;
    message.body += step.data;
    if (step.state == http::ChunkDecoder::State::broken) message.state = State::refused;
    if (step.state == http::ChunkDecoder::State::done) message.state = State::whole;
    if (step.state == http::ChunkDecoder::State::broken || step.state == http::ChunkDecoder::State::done)
      break;
    if (step.state == http::ChunkDecoder::State::more && limit == text.size()) break;
    if (at == limit) limit = text.size();
  }
  message.end += at;
}

/// Returns the message with the framing that the proxy's framing guard found in the head.
Message guarded(std::string_view text, const http::Parsed& parsed, const Framing& framing,
                std::size_t head_bytes, http::Spelling trailers) {
  Message message;
  if (std::holds_alternative<http::Rejection>(parsed)) return message;
  message.state = State::unfinished;
  if (parsed == http::Parsed{http::Progress::partial}) return message;
  message.has_head = true;
  message.kind = kind_of(framing.kind);
  message.length = framing.kind == Framing::Kind::length ? framing.length : 0;
  message.end = head_bytes;
  const std::string_view rest = text.substr(head_bytes);
  if (message.kind == Body::chunked) {
    take_chunks(rest, trailers, message);
    return message;
  }
  const std::uint64_t bytes = message.kind == Body::until_close ? rest.size() : message.length;
  if (bytes > rest.size()) return message;
  message.body = rest.substr(0, static_cast<std::size_t>(bytes));
  message.end += message.body.size();
  message.state = State::whole;
  return message;
}

Message read_guarded_request(std::string_view text) {
  static http::RequestHead head;
  const http::Parsed parsed = http::guard_request(text, {}, head);
  const Message message = guarded(text, parsed, head.framing, head.bytes, http::Spelling::strict);
  if (message.has_head && http::parse_request(text, {}, head) != parsed) ++tally.second;
  return message;
}

Message read_guarded_response(std::string_view text, std::string_view method) {
  static http::ResponseHead head;
  http::Oddities oddities;
  const http::Parsed parsed = http::guard_response(text, {}, method, head, oddities);
  const Message message = guarded(text, parsed, head.framing, head.bytes, http::Spelling::tolerant);
  if (message.has_head && http::parse_response(text, {}, method, head) != parsed) ++tally.second;
  return message;
}

template <bool is_request>
using Parser = beast::http::parser<is_request, beast::http::string_body>;

/// Feeds Beast all bytes, then the end of the connection if the message needs it.
template <bool is_request>
Message drive(Parser<is_request>& parser, std::string_view text) {
  parser.header_limit(64 * 1024);
  parser.body_limit(64 * 1024);
  parser.eager(true);
  Message message;
  message.state = State::unfinished;
  beast::error_code error;
  while (!parser.is_done() && message.end < text.size()) {
    const std::string_view left = text.substr(message.end);
    message.end += parser.put(boost::asio::const_buffer(left.data(), left.size()), error);
    if (error) break;
  }
  if (!error && parser.is_header_done() && !parser.is_done() && parser.need_eof()) parser.put_eof(error);
  message.has_head = parser.is_header_done();
  if (error && error != beast::http::error::need_more) message.state = State::refused;
  if (!message.has_head || message.state == State::refused) return message;
  if (parser.is_done()) message.state = State::whole;
  message.body = parser.get().body();
  if (parser.chunked()) {
    message.kind = Body::chunked;
  } else if (parser.content_length()) {
    message.kind = Body::length;
    message.length = *parser.content_length();
  } else {
    message.kind = is_request ? Body::none : Body::until_close;
  }
  return message;
}

Message read_by_beast_request(std::string_view text) {
  Parser<true> parser;
  return drive(parser, text);
}

Message read_by_beast_response(std::string_view text, std::string_view method) {
  Parser<false> first;
  Message message = drive(first, text);
  if (!message.has_head) return message;
  const unsigned status = first.get().result_int();
  const bool told = method == "HEAD" || (method == "CONNECT" && status / 100 == 2);
  if (told) {
    Parser<false> second;
    second.skip(true);
    message = drive(second, text);
  }
  if (told || status / 100 == 1 || status == 204 || status == 304) {
    message.kind = Body::none;
    message.length = 0;
  }
  return message;
}

/// Parses a response with Beast as the proxy does: Beast gets the normalised head. Given the syntax of old
/// upstreams, Beast would reject the head or wait for more bytes forever. Trailers that are not normalised
/// are not given to Beast.
Message read_by_beast_cleaned(std::string_view text, std::string_view method) {
  http::ResponseHead head;
  http::Oddities oddities;
  const bool whole =
      http::guard_response(text, {}, method, head, oddities) == http::Parsed{http::Progress::complete};
  if (!whole) return read_by_beast_response(text, method);
  const std::string_view rest = text.substr(head.bytes);
  if (head.framing.kind == Framing::Kind::chunked) {
    Message tolerant;
    take_chunks(rest, http::Spelling::tolerant, tolerant);
    Message strict;
    take_chunks(rest, http::Spelling::strict, strict);
    if (tolerant.state != strict.state || tolerant.end != strict.end) return {};
  }
  if (head.clean.empty() && !oddities.identity_coding) return read_by_beast_response(text, method);
  std::string plain(head.text(text).substr(0, head.text(text).find('\n') + 1));
  plain += plain_fields(head.fields);
  Message message = read_by_beast_response(plain + std::string(rest), method);
  if (message.end >= plain.size()) message.end += head.bytes - plain.size();
  return message;
}

/// Checks that two parsers found the same framing and, if the message is complete for both, the same body.
/// Skips messages that either parser rejects.
void agree(const Message& a, const Message& b, const char* who) {
  if (a.state == State::refused || b.state == State::refused) return;
  if (a.has_head && b.has_head) law(a.kind == b.kind && a.length == b.length, who);
  if (a.state == State::whole && b.state == State::whole) law(a.end == b.end && a.body == b.body, who);
}

/// Checks that the framing guard and the other parser agree on whether the message is complete. Skips
/// messages that either parser rejects. For example, the guard rejects a trailer line that ends in LF alone,
/// but Beast waits for more bytes after such a line.
void end_alike(const Message& guard, const Message& other, const char* who) {
  if (guard.state == State::refused || other.state == State::refused) return;
  law((guard.state == State::whole) == (other.state == State::whole), who);
}

/// Returns the end of the first message, or 0 if no parser finds a complete message.
std::size_t judge(const Message& guard, const Message& other, const Message& strict) {
  agree(guard, strict, "guard and strict reading frame it differently");
  agree(guard, other, "guard and Beast frame it differently");
  end_alike(guard, strict, "the strict reading ends it elsewhere than the guard");
  end_alike(guard, other, "Beast ends it elsewhere than the guard");
  agree(other, strict, "Beast and strict reading frame it differently");
  law(guard.state != State::whole || strict.state == State::whole,
      "what the guard accepts, the strict reading accepts");
  law(!guard.has_head || strict.has_head, "where the guard has a head, so has the strict reading");
  const bool refused = guard.state == State::refused;
  ++tally.messages;
  tally.beast_alone += refused && other.state == State::whole ? 1 : 0;
  tally.strict_alone += refused && strict.state == State::whole ? 1 : 0;
  const bool all = guard.state == State::whole && other.state == State::whole && strict.state == State::whole;
  tally.agreed += all ? 1 : 0;
  for (const Message* one : {&guard, &strict, &other}) {
    if (one->state == State::whole) return one->end;
  }
  return 0;
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  static constexpr std::array<std::string_view, 4> methods{"GET", "HEAD", "CONNECT", "POST"};
  std::string_view text = Input(bytes, size).rest();
  const bool responses = text.starts_with("HTTP/");
  std::uint64_t chosen = mixed(text);
  for (unsigned messages = 0; messages < 3 && !text.empty(); ++messages) {
    const std::string copy(text);
    const std::string_view method = methods[chosen % methods.size()];
    const std::size_t end =
        responses
            ? judge(read_guarded_response(text, method), read_by_beast_cleaned(text, method),
                    read_strictly_response(copy, std::string(method)))
            : judge(read_guarded_request(text), read_by_beast_request(text), read_strictly_request(copy));
    if (end == 0) break;
    text.remove_prefix(end);
    chosen /= methods.size();
  }
  return 0;
}
