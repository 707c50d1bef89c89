#include "proxy/tools/simulate/report/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace reprise::tools {

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

// Rounds down, so that a low rate of failures stays visible.
std::string percent(double share) {
  const double hundredths = std::floor(share * 1e4 + 1e-6);
  if (hundredths >= 10'000) return "100 %";
  return fmt::format("{:.2f} %", hundredths / 100);
}

std::string span_text(Duration span) {
  const double milliseconds = std::chrono::duration<double, std::milli>(span).count();
  if (milliseconds < 10) return fmt::format("{:.1f} ms", milliseconds);
  if (milliseconds < 1000) return fmt::format("{:.0f} ms", milliseconds);
  if (milliseconds < 10'000) return fmt::format("{:.1f} s", milliseconds / 1000);
  return fmt::format("{:.0f} s", milliseconds / 1000);
}

std::string percentile_text(const Histogram& latency, double share) {
  return latency.count() == 0 ? "-" : span_text(latency.percentile(share));
}

std::string per_second(double rate) { return grouped(static_cast<std::uint64_t>(std::llround(rate))) + "/s"; }

std::string times(double factor) { return fmt::format("{:.2f}", factor); }

std::string recovery_text(const Measures& measures) {
  if (!measures.trouble_ended) return "-";
  if (!measures.recovered) return "no";
  if (*measures.recovered == Duration::zero()) return "at once";
  return "after " + span_text(*measures.recovered);
}

}  // namespace reprise::tools
