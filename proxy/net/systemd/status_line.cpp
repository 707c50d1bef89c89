#include "proxy/net/systemd/status_line.hpp"

#include <algorithm>

#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::net {
namespace {

constexpr std::size_t longest = 500;

// Formats a time in UTC with a resolution of one second.
std::string moment(std::int64_t unix_time) {
  constexpr std::size_t to_the_second = 19;
  return std::string(telemetry::timestamp(unix_time * 1'000'000'000).substr(0, to_the_second)) + "Z";
}

}  // namespace

std::string status_line(const ServiceState& state) {
  std::string line;
  const bool failed = !state.why_not.empty();
  if (failed) {
    line.append("reload failed at ").append(moment(state.reloaded));
    line.append(", keeping the previous configuration: ")
        .append(telemetry::clipped(state.why_not))
        .append("; ");
  }
  if (state.draining) line.append("draining: not ready, connections close after their current response; ");
  line.append("serving ").append(std::to_string(state.routes));
  line.append(state.routes == 1 ? " route" : " routes").append(" and the default route on ");
  for (const std::string& listener : state.listeners)
    line.append(&listener == &state.listeners.front() ? "" : ", ").append(listener);
  if (state.reloaded != 0 && !failed) line.append("; reloaded at ").append(moment(state.reloaded));
  if (line.size() > longest) line.resize(longest);
  // In the sd_notify protocol, a line break ends the status text.
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line;
}

}  // namespace reprise::net
