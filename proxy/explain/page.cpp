#include "proxy/explain/page.hpp"

#include <fmt/format.h>

#include <chrono>

namespace reprise::explain {

using policy::Duration;

std::string span(policy::Duration duration) {
  using Seconds = std::chrono::duration<double>;
  const auto number = [](double value) {
    std::string text = fmt::format("{:.3f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
  };
  if (duration <= Duration::zero()) return "0s";
  const double seconds = Seconds(duration).count();
  if (seconds < 1) return number(seconds * 1000) + "ms";
  const auto minutes = static_cast<std::uint64_t>(seconds / 60);
  const double rest = seconds - static_cast<double>(minutes) * 60;
  std::string text;
  if (minutes >= 60) text += fmt::format("{}h", minutes / 60);
  if (minutes % 60 > 0) text += fmt::format("{}m", minutes % 60);
  return rest >= 0.0005 ? text + number(rest) + "s" : text;
}

std::string between(Duration lowest, Duration highest) {
  return lowest == highest ? span(lowest) : span(lowest) + " to " + span(highest);
}

void Page::line(std::string_view heading, std::string_view text) {
  text_ += fmt::format("{:<12}{}\n", heading == last_ ? "" : heading, text);
  last_ = heading;
}

}  // namespace reprise::explain
