// Fuzz target: the first bytes of a tunnel. A judgement never changes its mind as more bytes come, and what
// is taken for a request is one.
#include <string>

#include "proxy/http/first_bytes.hpp"
#include "proxy/http1/parse.hpp"
#include "proxy/tunnel/client_hello.hpp"
#include "tests/fuzz/heads.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;

constexpr Connect tunnel{"h", 80, "h:80"};
constexpr std::size_t longest_target = 64;

FirstWords words_of(std::string_view bytes) { return judge_first_words({bytes}, tunnel, longest_target); }

void judge_words(std::string_view bytes) {
  FirstWords before = FirstWords::more;
  for (std::size_t i = 0; i <= bytes.size() && i <= 200; ++i) {
    const FirstWords now = words_of(bytes.substr(0, i));
    law(before == FirstWords::more || now == before, "what is judged stays so");
    before = now;
  }
  const FirstWords words = words_of(bytes);
  law(words != FirstWords::more || bytes.size() <= 32 + 1 + longest_target + 11, "waiting is bounded");
  law(judge_first_words({bytes, true}, tunnel, longest_target) == FirstWords::opaque,
      "a server that speaks decides");
  law(judge_first_words({bytes, false, true}, tunnel, longest_target) != FirstWords::more,
      "time ends the wait");
  if (words != FirstWords::http) return;
  const std::string whole = std::string(bytes.substr(0, bytes.find("\r\n") + 2)) + "Host: h\r\n\r\n";
  RequestHead head;
  law(parse_request(whole, {}, head) == Parsed{Progress::complete}, "http is a request");
  law(std::holds_alternative<Forward>(take_tunnelled(head, tunnel)) ||
          std::holds_alternative<ResponseHere>(take_tunnelled(head, tunnel)),
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
    law(bytes.front() == '\x16' && words_of(bytes) == FirstWords::opaque, "and is no request");
    law(judge_client_hello(std::string(bytes) + "\x16") == Hello::other, "and has nothing behind it");
  }
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  judge_words(text);
  judge_hello(text);
  return 0;
}
