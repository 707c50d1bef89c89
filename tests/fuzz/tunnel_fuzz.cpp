// Fuzz target: the first bytes of a tunnel. More bytes never change a verdict, and bytes that are detected as
// an HTTP request can be parsed as one.
#include <string>

#include "proxy/forward/tunnel/client_hello.hpp"
#include "proxy/forward/tunnel/interception.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/message/first_bytes.hpp"
#include "proxy/policy/match/ascii.hpp"
#include "tests/fuzz/heads.hpp"

namespace reprise::fuzz {
namespace {

using namespace forward;
using namespace http;

constexpr Connect tunnel{"h", 80, "h:80"};
constexpr std::size_t longest_target = 64;

DetectedProtocol words_of(std::string_view bytes) {
  return detect_by_first_bytes({bytes}, tunnel, longest_target);
}

void judge_words(std::string_view bytes) {
  DetectedProtocol before = DetectedProtocol::more;
  for (std::size_t i = 0; i <= bytes.size() && i <= 200; ++i) {
    const DetectedProtocol now = words_of(bytes.substr(0, i));
    law(before == DetectedProtocol::more || now == before, "what is judged stays so");
    before = now;
  }
  const DetectedProtocol words = words_of(bytes);
  law(words != DetectedProtocol::more || bytes.size() <= 32 + 1 + longest_target + 11, "waiting is bounded");
  law(detect_by_first_bytes({bytes, true}, tunnel, longest_target) == DetectedProtocol::server_first,
      "a server that speaks decides");
  const DetectedProtocol opened = detect_by_first_bytes({bytes, true, false, true}, tunnel, longest_target);
  law(opened == DetectedProtocol::http2 || opened == DetectedProtocol::more ||
          opened == DetectedProtocol::server_first,
      "a server that opens HTTP/2 serves nothing else");
  law(words != DetectedProtocol::silence || bytes.empty(), "who has said something is not silent");
  law(words != DetectedProtocol::tls || bytes.starts_with("\x16\x03"), "tls is a handshake record");
  law(words != DetectedProtocol::http2 || bytes.starts_with("PRI * HTTP/2.0\r\n"), "http2 is its preface");
  law(detect_by_first_bytes({bytes, false, true}, tunnel, longest_target) != DetectedProtocol::more,
      "time ends the wait");
  if (words != DetectedProtocol::http) return;
  const std::string whole = std::string(bytes.substr(0, bytes.find("\r\n") + 2)) + "Host: h\r\n\r\n";
  RequestHead head;
  law(parse_request(whole, {}, head) == Parsed{Progress::complete}, "http is a request");
  law(std::holds_alternative<Forward>(take_tunnelled(head, tunnel)) ||
          std::holds_alternative<Respond>(take_tunnelled(head, tunnel)),
      "that is taken");
}

void judge_hello(std::string_view bytes) {
  Hello before = Hello::more;
  for (std::size_t i = 0; i <= bytes.size() && i <= 300; ++i) {
    const Hello now = judge_client_hello(bytes.substr(0, i));
    law(before == Hello::more || now == before || (before == Hello::whole && now == Hello::other),
        "only bytes behind a whole one make it another");
    before = now;
  }
  if (judge_client_hello(bytes) == Hello::whole) {
    law(bytes.size() >= 5 + 4 + 2 + 32 + 1 + 4 + 2 && bytes.size() <= longest_hello,
        "a whole one has its parts");
    law(words_of(bytes) == DetectedProtocol::tls, "and is no request");
    law(std::holds_alternative<ClientHello>(read_client_hello(bytes)) ||
            std::get<Hello>(read_client_hello(bytes)) == Hello::other,
        "and can be read, or is malformed inside");
    law(judge_client_hello(std::string(bytes) + "\x16") == Hello::other, "and has nothing behind it");
  }
}

// Checks that the result for a ClientHello does not depend on how its bytes were split, or on the bytes after
// it.
void judge_asking(std::string_view bytes) {
  const auto read = read_client_hello(bytes);
  const auto* const hello = std::get_if<ClientHello>(&read);
  for (std::size_t i = 0; i < bytes.size() && i <= 300; ++i) {
    const auto part = read_client_hello(bytes.substr(0, i));
    const auto* const early = std::get_if<ClientHello>(&part);
    law(early == nullptr || (hello != nullptr && early->server_name == hello->server_name &&
                             early->offers_protocols == hello->offers_protocols &&
                             early->offers_http_1_1 == hello->offers_http_1_1),
        "what was read stays so");
  }
  if (hello == nullptr) return;
  law(bytes.starts_with("\x16\x03"), "a hello is in a handshake record");
  law(!hello->offers_http_1_1 || hello->offers_protocols, "one of its protocols");
  const std::vector<policy::HostPattern> listed{{"a.test"}, {"*.b.test"}};
  const auto verdict = forward::judge_interception("a.test", *hello, listed, true);
  law(verdict != telemetry::Interception::intercepted ||
          policy::equals_ignoring_case(hello->server_name, "a.test"),
      "a leaf for the host that was asked for alone");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  judge_words(text);
  judge_hello(text);
  judge_asking(text);
  return 0;
}
