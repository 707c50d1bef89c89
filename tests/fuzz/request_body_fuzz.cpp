// Fuzz target: chunked request bodies. However the bytes are split, the body, the trailers and the verdict
// are the same.
#include <optional>

#include "proxy/http/http1/chunked.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "tests/fuzz/heads.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;
using State = ChunkDecoder::State;

struct Decoded {
  State state = State::more;
  std::string body;
  std::string trailers;
  std::size_t consumed = 0;
  std::optional<Rejection> cause;
  unsigned steps = 0;

  bool operator==(const Decoded& other) const {
    return state == other.state && body == other.body && trailers == other.trailers && cause == other.cause;
  }
};

/// Decodes in pieces of 1 to `longest` bytes, each placed so that the sanitizer detects a read beyond it.
/// Feeds all bytes at once if `longest` covers the text.
Decoded decode(std::string_view text, std::uint64_t seed, std::size_t longest, ChunkDecoder& decoder) {
  Decoded all;
  Edge edge;
  while (all.consumed < text.size() && all.state != State::done && all.state != State::broken) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    const std::size_t bytes = longest < text.size() ? 1 + (seed >> 33U) % longest : text.size();
    const std::string_view piece = edge.put(text.substr(all.consumed, bytes));
    const ChunkDecoder::Step step = decoder.step(piece);
    ++all.steps;
    law(step.consumed <= piece.size() && lies_in(step.data, piece), "a step stays in its input");
    law(step.data.size() <= step.consumed, "data is consumed");
    law(step.state != State::more || step.consumed == piece.size(), "more is asked for when all was taken");
    law((step.state == State::data) == !step.data.empty(), "data, and nothing but data, has bytes");
    law(step.consumed > 0 || step.state == State::done || step.state == State::broken, "every step gets on");
    all.state = step.state;
    all.consumed += step.consumed;
    all.body += step.data;
    if (step.state == State::broken) all.cause = step.cause;
  }
  if (all.state == State::data) all.state = State::more;
  all.trailers = decoder.trailers();
  return all;
}

Decoded decode(std::string_view text, std::uint64_t seed, std::size_t longest) {
  ChunkDecoder decoder;
  return decode(text, seed, longest, decoder);
}

/// Returns the body as the proxy sends it upstream, in its own chunks.
std::string encoded(const Decoded& decoded, std::size_t size) {
  std::string text;
  for (std::size_t at = 0; at < decoded.body.size(); at += size) {
    const std::string_view piece = std::string_view(decoded.body).substr(at, size);
    write_chunk_size(piece.size(), text);
    text.append(piece).append("\r\n");
  }
  write_last_chunk(decoded.trailers, text);
  return text;
}

void judge_trailers(std::string_view trailers) {
  law(trailers.size() <= 8192, "trailers are bounded");
  while (!trailers.empty()) {
    const std::size_t end = trailers.find("\r\n");
    law(end != std::string_view::npos && end > 0, "trailers are whole lines");
    const std::string_view line = trailers.substr(0, end);
    const std::string name = lowered(line.substr(0, line.find(':')));
    law(name.size() < line.size() && !name.empty() && !has_control(line), "a trailer is a field line");
    for (const char* const forbidden :
         {"transfer-encoding", "content-length", "host", "authorization", "cookie", "set-cookie", "trailer",
          "te", "connection", "cache-control", "range"}) {
      law(name != forbidden, "no trailer that means something only in a head");
    }
    trailers.remove_prefix(end + 2);
  }
}

void judge_whole(std::string_view text, const Decoded& whole, std::uint64_t seed) {
  judge_trailers(whole.trailers);
  law(whole.consumed >= 5 && text.substr(0, whole.consumed).ends_with("\r\n"),
      "a body ends with an empty line");
  const std::string body_alone(text.substr(0, whole.consumed));
  law(decode(body_alone, seed, body_alone.size()) == whole, "what follows is of no account");
  law(decode(std::string_view(body_alone).substr(0, body_alone.size() - 1), seed, 40).state == State::more,
      "no end without its last byte");
  const std::string again = encoded(whole, 1 + seed % 40);
  const Decoded decoded = decode(again, seed, again.size());
  law(decoded == whole && decoded.consumed == again.size(), "what goes upstream is the same body");
}

/// Checks the limits on work and overhead of a body (rows A6 and I1).
void judge_cost(const Decoded& decoded) {
  const std::size_t chunks_at_most = decoded.body.size() + 1;
  law(decoded.consumed <= 16 * 1024 + 8192 + 1 + 2 * decoded.body.size() + 4 * chunks_at_most,
      "overhead is bounded");
  law(decoded.steps <= decoded.consumed + 1, "steps are bounded");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  const std::uint64_t seed = mixed(text);
  const Decoded whole = decode(text, seed, text.size());
  judge_cost(whole);
  reprise::http::ChunkDecoder decoder;
  const std::size_t longest = seed % 3 == 0 ? 1 : 1 + seed % (text.size() + 1);
  const Decoded split = decode(text, seed, longest, decoder);
  law(split == whole, "pieces change nothing");
  law(whole.state != State::done || split.consumed == whole.consumed, "a body ends at one place");
  if (seed % 4 == 1) {
    decoder.reset();
    law(decode(text, ~seed, 1 + text.size() / 2, decoder) == whole, "a decoder that is used again is as new");
  }
  if (whole.state == State::done && seed % 2 == 0) judge_whole(text, whole, seed);
  return 0;
}
