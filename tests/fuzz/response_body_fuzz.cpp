// Fuzz target: whole responses. The client gets the same body in new framing. The results of body predicates
// do not depend on how the bytes were split.
#include <array>
#include <optional>

#include "proxy/http/body_rules/response_body_probe.hpp"
#include "proxy/http/http1/chunked.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "tests/fuzz/heads.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;

constexpr std::array<std::string_view, 4> methods{"GET", "GET", "HEAD", "CONNECT"};

struct Response {
  ResponseHead head;
  std::string body;
  std::string trailers;
  std::size_t end = 0;  ///< one past the last byte of the message
};

/// Returns the size of the chunked body at the start of `text`, or nullopt if it is incomplete or malformed.
std::optional<std::size_t> take_chunks(std::string_view text, Spelling trailers, Response& response) {
  ChunkDecoder decoder(trailers);
  std::size_t at = 0;
  while (true) {
    const ChunkDecoder::Step step = decoder.step(text.substr(at));
    at += step.consumed;
    response.body += step.data;
    if (step.state == ChunkDecoder::State::data) continue;
    response.trailers = decoder.trailers();
    return step.state == ChunkDecoder::State::done ? std::optional(at) : std::nullopt;
  }
}

/// Reads a complete message. The end of the text stands for the end of the connection. Returns false if the
/// message is incomplete or malformed.
bool read(std::string_view text, std::string_view method, Spelling trailers, Response& response) {
  if (parse_response(text, {}, method, response.head) != Parsed{Progress::complete}) return false;
  const std::string_view rest = text.substr(response.head.bytes);
  std::optional<std::size_t> taken;
  switch (response.head.framing.kind) {
    case Framing::Kind::none: taken = 0; break;
    case Framing::Kind::chunked: taken = take_chunks(rest, trailers, response); break;
    case Framing::Kind::until_close: taken = rest.size(); break;
    case Framing::Kind::length:
      if (response.head.framing.length <= rest.size())
        taken = static_cast<std::size_t>(response.head.framing.length);
      break;
  }
  if (!taken) return false;
  if (response.head.framing.kind != Framing::Kind::chunked) response.body = rest.substr(0, *taken);
  response.end = response.head.bytes + *taken;
  return true;
}

/// Returns the response as the proxy writes it to a client with this HTTP minor version.
std::string written(const Response& response, unsigned client_minor_version) {
  const Framing::Kind kind = response.head.framing.kind;
  ResponseRewrite rewrite;
  rewrite.client_minor_version = client_minor_version;
  rewrite.chunked = kind == Framing::Kind::chunked || kind == Framing::Kind::until_close;
  rewrite.via_pseudonym = "reprise-x1";
  rewrite.date = "Sun, 06 Nov 1994 08:49:37 GMT";
  std::string out;
  write_response_head(response.head, rewrite, out);
  if (!rewrite.chunked || client_minor_version == 0) return out + response.body;
  if (!response.body.empty()) {
    write_chunk_size(response.body.size(), out);
    out.append(response.body).append("\r\n");
  }
  std::string trailers;
  append_trailers(response.trailers, response.head.fields, trailers);
  write_last_chunk(trailers, out);
  return out;
}

void judge_relayed(const Response& response, std::string_view method) {
  for (const unsigned version : {1U, 0U}) {
    const std::string out = written(response, version);
    Response again;
    law(read(out, method, Spelling::strict, again), "what goes to the client is a whole response");
    law(again.head.clean.empty(), "whose head is clean");
    law(again.end == out.size() && again.body == response.body, "with the same body and nothing behind it");
    law(again.head.status == response.head.status, "and the same status");
    law(version == 1 || count_of(again.head.fields, "transfer-encoding") == 0,
        "HTTP/1.0 gets nothing chunked");
    if (version == 0) continue;
    law(again.head.reusable || response.head.status == 101, "after it the connection can stay");
    law(response.trailers.find(again.trailers) != std::string::npos ||
            again.trailers.size() < response.trailers.size(),
        "no trailer is invented");
  }
}

void judge_events(std::string_view body, std::uint64_t seed) {
  FirstEvent whole;
  whole.feed(body);
  FirstEvent pieces;
  Edge edge;
  for (std::string_view left = body; !left.empty();) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    const std::string_view piece = edge.put(left.substr(0, 1 + (seed >> 33U) % 5));
    pieces.feed(piece);
    left.remove_prefix(piece.size());
  }
  law(whole.complete() == pieces.complete() && whole.name() == pieces.name() && whole.data() == pieces.data(),
      "an event does not hang on how it came");
  law(whole.data().size() + whole.name().size() <= body.size() + std::string_view("message").size(),
      "an event is no larger than its bytes");
  law(whole.complete() != whole.name().empty(), "an event that is there has a name");
  whole.feed("data: later\n\n");
  law(!pieces.complete() || whole.data() == pieces.data(), "what follows the first event is of no account");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  const std::uint64_t seed = mixed(text);
  const std::string_view method = methods[seed % methods.size()];
  Response response;
  if (!read(text, method, Spelling::tolerant, response)) return 0;
  judge_relayed(response, method);
  judge_events(response.body, seed);
  const auto kind = reprise::http::body_kind(response.head);
  if (kind == reprise::policy::BodyKind::json && !response.body.empty()) {
    const reprise::http::WholeResponse json(response.body, kind);
    const bool found = json.has_json("error.code", {});
    law(found || !json.has_json("error.code", {"7"}), "what equals something is there");
    law(json.has_json("error", {}) || !found, "what lies below something needs it");
    law(!json.has_xml("error", {}), "JSON has no elements");
  }
  return 0;
}
