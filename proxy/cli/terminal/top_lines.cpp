#include "proxy/cli/terminal/top_lines.hpp"

#include <algorithm>
#include <thread>

#include "proxy/cli/terminal/top_screen.hpp"

namespace reprise::cli {
namespace {

constexpr Duration status_timeout = std::chrono::seconds(3);

double in_seconds(Instant instant) {
  return std::chrono::duration<double>(instant.time_since_epoch()).count();
}

// Reads the status from the proxy. If that fails, sets `why` and returns false.
bool take_reading(const LinesOptions& options, tools::Watch& watch, std::string& why) {
  const server::AdminResponse response = server::ask_admin(options.at, "/status", status_timeout);
  auto status = tools::read_status(response.body, nullptr);
  if (response.status == 200 && status.value) {
    watch.took(std::move(*status.value), in_seconds(net::Clock::now()));
    return true;
  }
  why = not_understood(options.at, response, status.why);
  return false;
}

}  // namespace

bool print_top(const LinesOptions& options) {
  tools::Watch watch(1);
  std::string why;
  if (!take_reading(options, watch, why)) {
    options.warn(why);
    return false;
  }
  bool there = true;
  Instant next = net::Clock::now();
  for (std::uint64_t done = 0; options.count == 0 || done < options.count; ++done) {
    next = std::max(next + options.interval, net::Clock::now());
    std::this_thread::sleep_until(next);
    const bool was_there = there;
    const bool restarted_before = watch.restarted_at().has_value();
    const double before = watch.restarted_at().value_or(0);
    there = take_reading(options, watch, why);
    if (!there) {
      if (was_there) options.warn(why);
      continue;
    }
    if (watch.restarted_at() && (!restarted_before || *watch.restarted_at() != before))
      options.warn(
          "the proxy has restarted: its counters begin at 0 again, and the next interval is the first");
    if (!options.print(tools::interval_lines(watch, options.form, net::Clock::wall_nanoseconds())))
      return true;
  }
  return there;
}

}  // namespace reprise::cli
