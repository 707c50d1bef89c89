// Fuzz target: the bytes of an upstream that speaks HTTP/2. What the proxy understands does not depend on how
// the bytes are split, no stream both ends and fails, and every head is one HTTP/1 head. The bytes that
// streams hold are counted, and bounded by the windows (row M103).
#include <array>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http2/request_fields.hpp"
#include "proxy/http/http2/upstream_wire.hpp"
#include "tests/fuzz/http2_script.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;

constexpr std::size_t stream_count = 3;
constexpr std::size_t memory_limit = std::size_t{600} * 1024;

/// What one connection has made of the bytes.
struct Understood {
  bool failed = false;
  bool going_away = false;
  std::array<Http2Message, stream_count> responses;
};

const std::array<play::FieldList, 3> heads{play::FieldList{{":status", "200"}},
                                           play::FieldList{{":status", "103"}},
                                           play::FieldList{{":status", "200"}}};

void flush(UpstreamWire& wire) {
  for (std::string_view bytes = wire.output(); !bytes.empty(); bytes = wire.output())
    wire.written(bytes.size());
}

void judge_memory(const StreamMemory& memory, UpstreamWire& wire,
                  const std::array<StreamId, stream_count>& ids) {
  std::size_t unread = 0;
  std::size_t heads = 0;
  for (const StreamId id : ids) {
    if (id == 0) continue;
    const Http2Message& response = wire.message(id);
    unread += response.body.size();
    heads += response.heads.size() + response.trailers.size();
  }
  law(memory.held() >= unread + heads, "bytes that are held are not counted");
  law(memory.held() <= memory_limit + heads + stream_count * StreamWindow::least,
      "more bytes count than the windows allow");
}

Understood play_to(std::string_view bytes, std::size_t piece, StreamMemory& memory) {
  UpstreamWire wire({}, memory);
  flush(wire);
  FieldBlock fields;
  write_request_fields("POST / HTTP/1.1\r\nHost: a\r\n\r\n", "http", fields);
  std::array<StreamId, stream_count> ids{};
  while (!bytes.empty()) {
    const std::size_t taken = std::min(piece, bytes.size());
    wire.receive(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    judge_memory(memory, wire, ids);
    // A reset that was sent changes what libnghttp2 says of later frames, so nothing is sent before the end.
    if (ids[0] != 0 || wire.room() < stream_count) continue;
    for (StreamId& id : ids) id = wire.open(fields, id != ids[0]);
    wire.send(ids[0], "abc");
    flush(wire);
  }
  flush(wire);
  Understood all;
  all.failed = wire.failure().has_value();
  all.going_away = wire.going_away();
  for (std::size_t i = 0; i < stream_count && ids[i] != 0; ++i) {
    all.responses[i] = wire.message(ids[i]);
    all.responses[i].body = wire.take_body(ids[i]);
    wire.passed_on(ids[i]);
    judge_memory(memory, wire, ids);
  }
  flush(wire);
  for (std::size_t i = 0; i < stream_count && ids[i] != 0; ++i) {
    if (i != 0) wire.release(ids[i]);
  }
  flush(wire);
  return all;
}

Understood play_to(std::string_view bytes, std::size_t piece) {
  StreamMemory memory(memory_limit);
  Understood all = play_to(bytes, piece, memory);
  law(memory.held() == 0, "bytes still count after the connection");
  return all;
}

void check_heads(std::string_view heads) {
  while (!heads.empty()) {
    ResponseHead head;
    law(parse_response(heads, {}, "POST", head) == Parsed{Progress::complete}, "no HTTP/1 head");
    heads.remove_prefix(head.bytes);
    law(head.status < 200 || heads.empty(), "a head after the final one");
  }
}

void judge_streams(const Understood& all) {
  for (const Http2Message& response : all.responses) {
    law(!response.ended || !response.failure, "a stream that ended has failed");
    law(response.body.empty() || !response.heads.empty(), "a body without a head");
    check_heads(response.heads);
  }
}

void check(std::string_view text) {
  // The first frames open the streams, so the script comes after them in a piece of its own.
  const std::string bytes = Http2Script(text, heads).bytes();
  const std::size_t first = play::settings().size() + 9;
  const Understood whole = play_to(bytes, first);
  const Understood split = play_to(bytes, 1);
  for (const Understood& one : {whole, split}) judge_streams(one);
  // The pieces decide when libnghttp2 notices a violation: a block that is cut inside a field, and frames
  // after a GOAWAY that leaves no stream.
  if (whole.failed || split.failed || whole.going_away != split.going_away) return;
  for (std::size_t i = 0; i < stream_count; ++i) {
    const Http2Message& one = whole.responses[i];
    const Http2Message& other = split.responses[i];
    law(one.ended == other.ended && one.failure.has_value() == other.failure.has_value(),
        "the split changes an end");
    law(one.heads == other.heads && one.trailers == other.trailers, "the split changes a head");
    law(one.body == other.body || one.failure, "the split changes a body");
  }
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  reprise::fuzz::check({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
