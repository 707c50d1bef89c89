#include "proxy/tools/explain/page.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>

namespace reprise::tools {

using policy::Duration;

// Formats a duration. Rounds first, so that 59.9999 s becomes a minute, not 60 s.
std::string span(policy::Duration duration) {
  const auto thousandths = [](std::int64_t value) {
    std::string text = fmt::format("{}.{:03}", value / 1000, value % 1000);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
  };
  if (duration <= Duration::zero()) return "0s";
  const auto fine = std::chrono::round<std::chrono::microseconds>(duration);
  if (fine < std::chrono::seconds(1)) return thousandths(fine.count()) + "ms";
  const auto coarse = std::chrono::round<std::chrono::milliseconds>(duration).count();
  const auto minutes = coarse / 60'000;
  const auto rest = coarse % 60'000;
  std::string text;
  if (minutes >= 60) text += fmt::format("{}h", minutes / 60);
  if (minutes % 60 > 0) text += fmt::format("{}m", minutes % 60);
  return rest > 0 ? text + thousandths(rest) + "s" : text;
}

std::string between(Duration lowest, Duration highest) {
  return lowest == highest ? span(lowest) : span(lowest) + " to " + span(highest);
}

void TextPage::line(std::string_view heading, std::string_view text) {
  text_ += fmt::format("{:<12}{}\n", heading == last_ ? "" : heading, text);
  last_ = heading;
}

}  // namespace reprise::tools
