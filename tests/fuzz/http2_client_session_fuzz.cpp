// Fuzz target: the bytes of a client that speaks HTTP/2. Every request that begins is one HTTP/1 head, ids
// only grow, no more streams than allowed are open, and the bytes that streams hold are counted (row M103).
#include <array>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http2/client_wire.hpp"
#include "proxy/http/http2/response_fields.hpp"
#include "tests/fuzz/http2_script.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;

constexpr std::size_t most_streams = 2;
constexpr std::size_t memory_limit = std::size_t{600} * 1024;
constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

play::FieldList request(std::string method) {
  return {{":method", std::move(method)}, {":scheme", "http"}, {":path", "/x"}, {":authority", "a"}};
}
const std::array<play::FieldList, 3> heads{request("GET"), request("CONNECT"), request("POST")};

/// One connection, and what it has begun.
class Play {
 public:
  explicit Play(StreamMemory& memory)
      : memory_(memory), wire_(TargetForm::origin, {{}, most_streams}, memory) {
    flush();
  }

  void receive(std::string_view bytes, bool responds) {
    wire_.receive(bytes, policy::Instant(std::chrono::hours(1)));
    for (const StreamId id : wire_.take_begun()) {
      law(id > newest_, "an id that is not higher");
      newest_ = id;
      open_.push_back(id);
      check_head(id);
    }
    law(open_.size() <= most_streams, "more streams than allowed");
    std::size_t unread = 0;
    for (const StreamId id : open_) unread += wire_.message(id).body.size() + wire_.message(id).heads.size();
    law(memory_.held() >= unread, "bytes that are held are not counted");
    if (responds) respond();
    flush();
  }

 private:
  void flush() {
    for (std::string_view bytes = wire_.output(); !bytes.empty(); bytes = wire_.output())
      wire_.written(bytes.size());
  }

  void check_head(StreamId id) {
    const Http2Message& message = wire_.message(id);
    law(!message.ended || !message.failure, "a stream that ended has failed");
    if (message.too_large) return law(message.heads.empty(), "a head that is too large is kept");
    RequestHead head;
    law(parse_request(message.heads, {}, head) == Parsed{Progress::complete}, "no HTTP/1 head");
    law(head.bytes == message.heads.size(), "more than one head");
  }

  // Responds to the oldest stream and passes on what it has sent.
  void respond() {
    if (open_.empty()) return;
    const StreamId id = open_.front();
    open_.erase(open_.begin());
    wire_.take_body(id);
    wire_.passed_on(id);
    FieldBlock fields;
    write_response_fields("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", fields);
    wire_.respond(id, fields, false);
    if (!wire_.closed(id)) {
      wire_.send(id, "abc");
      wire_.end(id, {});
    }
    flush();
    wire_.release(id, Http2Code::no_error);
  }

  StreamMemory& memory_;
  ClientWire wire_;
  std::vector<StreamId> open_;
  StreamId newest_ = 0;
};

void play(std::string_view bytes, std::size_t piece, bool responds) {
  StreamMemory memory(memory_limit);
  {
    Play one(memory);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
      one.receive(bytes.substr(0, piece), responds);
  }
  law(memory.held() == 0, "bytes still count after the connection");
}

void check(std::string_view text) {
  const std::string bytes = std::string(preface) + Http2Script(text, heads).bytes();
  play(bytes, bytes.size(), false);
  play(bytes, 1, false);
  play(bytes, 7, true);
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  reprise::fuzz::check({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
