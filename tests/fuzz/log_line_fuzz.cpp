// Fuzz target: access log lines. Any input is parsed or rejected with a reason; a truncated line is rejected.
#include <variant>

#include "proxy/tools/simulate/log_line.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

using namespace tools;

void judge_line(std::string_view bytes) {
  const ReadLine read = read_line(bytes);
  if (const auto* bad = std::get_if<BadLine>(&read)) {
    law(!bad->why.empty(), "a refusal has its words");
    for (const char c : bad->why)
      law(c >= ' ' && c <= '~', "what is told is one line that a terminal can show");
    return;
  }
  if (bytes.ends_with('}')) {
    const ReadLine part = read_line(bytes.substr(0, bytes.size() - 1));
    law(std::holds_alternative<BadLine>(part), "a part of a line is none");
  }
  const auto* line = std::get_if<LogLine>(&read);
  if (line == nullptr) return;
  law(line->written >= 0 && line->took >= Duration::zero(), "times are not negative");
  for (const LoggedAttempt& attempt : line->attempts)
    law(attempt.took >= Duration::zero() && attempt.wait >= Duration::zero(), "spans are not negative");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  reprise::fuzz::judge_line(reprise::fuzz::Input(bytes, size).rest());
  return 0;
}
