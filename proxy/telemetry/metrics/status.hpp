// The /status document: identity, configuration and totals of the process. The document is JSON and has no
// secrets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/settings.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::telemetry {

/// Counts of the routes for each second of the last minute.
struct StatusMinute {
  std::int64_t seconds = 0;  ///< result of `seconds_lived`
  /// For each route, the counts of each second. The routes are in the order of the settings.
  std::vector<std::vector<CountedSecond<RouteNumbers>>> routes;
};

/// Returns in how many clock seconds this process has run, including partial ones; at most 60. For example, a
/// process that started at 9.9 s has run in two clock seconds at 10.1 s.
std::int64_t seconds_lived(policy::Instant started, policy::Instant now);

struct StatusFacts {
  std::string_view version;
  std::string_view config_file;  ///< empty: built-in defaults
  std::string_view config_hash;
  std::int64_t started_unix = 0;
  std::int64_t now_unix = 0;
  double clock_seconds = 0;  ///< time on a monotonic clock, to measure the time between two documents
  /// Limits of this process's control group; absent if unknown.
  struct Limits {
    std::optional<std::uint64_t> memory_bytes;
    std::string memory_file;  ///< the file that sets the memory limit
    std::optional<double> cpus;
    std::string cpu_file;
    std::string words;  ///< the limits as text for people
  };
  Limits limits;
  bool ready = false;
  bool draining = false;
  /// Mode and address of each listener, such as `forward 127.0.0.1:3128`.
  std::vector<std::string> listeners;
  /// Totals of each route, in the order of the routes in the settings.
  std::vector<Metrics::RouteTotals> routes;
  std::optional<StatusMinute> minute;  ///< absent if the last minute was not requested
  /// Upstreams that have used some of their budget, with the fraction that is left, 0 to 1.
  std::vector<std::pair<std::string, double>> budgets;
  /// State of one upstream. An absent member means a full budget, a closed circuit or no pause.
  struct Upstream {
    std::string name;                   ///< "host:port", or `other`, for which only `attempts` is known
    Metrics::Counts attempts;           ///< attempts by outcome; empty if counted only under `other`
    std::optional<double> budget_left;  ///< fraction of the budget that is left, 0 to 1
    std::optional<policy::Circuit::State> circuit;
    std::optional<double> pause_seconds;  ///< time until the pause ends
    /// Attempts in each second of the last minute. Written only if `minute` is present.
    std::vector<CountedSecond<AttemptNumbers>> last_minute;
  };
  std::vector<Upstream> upstreams;  ///< sorted by name
  std::vector<UnreadHost> unread;   ///< hosts whose HTTPS could not be read
  struct Reload {
    bool succeeded = false;
    std::int64_t unix_time = 0;
    std::vector<std::string> errors;
  };
  std::optional<Reload> reload;  ///< the last reload; absent if there was none
};

/// Selects routes by their place in the settings. An empty choice selects all routes.
using RouteChoice = std::vector<bool>;

/// Returns the document as one line of JSON.
std::string status_json(const StatusFacts&, const config::Settings&, const Metrics::Totals&,
                        const RouteChoice& routes = {});

}  // namespace reprise::telemetry
