// Fuzz target: bytes of a SOCKS5 client. More bytes never change a verdict, no more bytes than needed are
// read, and no accepted name can break out of a CONNECT request or a log line.
#include <algorithm>
#include <string>

#include "proxy/forward/tunnel/socks5.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/http/message/target.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

using namespace forward;
using namespace http;

constexpr std::size_t longest = 4 + 1 + 255 + 2;

template <typename Read>
void judge_steps(std::string_view bytes, Read read) {
  const std::size_t last = std::min(bytes.size(), longest + 10);
  std::size_t settled = 0;
  for (std::size_t i = 0; i <= last; ++i) {
    const auto now = read(bytes.substr(0, i)).index();
    law(settled == 0 || now == settled, "what is judged stays so");
    settled = now;
  }
  law(settled != 0 || bytes.size() <= longest, "waiting is bounded");
}

void judge_request(std::string_view bytes) {
  const auto read = read_socks_request(bytes);
  const auto* const request = std::get_if<SocksRequest>(&read);
  if (request == nullptr) return;
  law(request->bytes <= bytes.size() && request->bytes <= longest, "no more than was sent");
  law(std::holds_alternative<SocksPartial>(read_socks_request(bytes.substr(0, request->bytes - 1))),
      "no less than was needed");
  law(request->port != 0 && !request->host.empty(), "somewhere to go");
  law(std::none_of(
          request->host.begin(), request->host.end(),
          [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '@' || c == '/'; }),
      "no name breaks out of its place");
  const std::string authority = authority_text(request->host, request->port);
  law(authority.find_first_of("\r\n ") == std::string::npos, "nor its authority");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  judge_steps(text, reprise::forward::read_socks_greeting);
  judge_steps(text, reprise::forward::read_socks_request);
  judge_request(text);
  return 0;
}
