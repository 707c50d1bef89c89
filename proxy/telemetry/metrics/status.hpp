// The /status document: who is running, how it is configured, what it has done so far. JSON, no secrets.
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

/// The last minute of the routes.
struct StatusMinute {
  std::int64_t seconds = 0;  ///< of `seconds_lived`
  /// In the order of the settings' routes.
  std::vector<std::vector<CountedSecond<RouteNumbers>>> routes;
};

/// Returns how many seconds of the clock this process has been in, the begun ones included; at most 60. The
/// last minute's entries are of such seconds: a process that started at 9.9 has been in two at 10.1.
std::int64_t seconds_lived(policy::Instant started, policy::Instant now);

struct StatusFacts {
  std::string_view version;
  std::string_view config_file;  ///< empty: built-in defaults
  std::string_view config_hash;
  std::int64_t started_unix = 0;
  std::int64_t now_unix = 0;
  double clock_seconds = 0;  ///< of a clock that does not jump: what lies between two documents
  /// What this process's control group allows it; absent: nothing is known.
  struct Limits {
    std::optional<std::uint64_t> memory_bytes;
    std::string memory_file;  ///< where it stands
    std::optional<double> cpus;
    std::string cpu_file;
    std::string words;  ///< the same for people
  };
  Limits limits;
  bool ready = false;
  bool draining = false;
  std::vector<std::string> listeners;  ///< "forward 127.0.0.1:3128"
  /// In the order of the settings' routes.
  std::vector<Metrics::RouteTotals> routes;
  std::optional<StatusMinute> minute;  ///< absent: it is not asked for
  /// Upstreams of whose budgets something was drawn, and what is left of them, 0 to 1.
  std::vector<std::pair<std::string, double>> budgets;
  /// What is known of an upstream; absent: nothing, which is a full budget, a closed circuit, no pause.
  struct Upstream {
    std::string name;                   ///< "host:port"; or `other`, of which only attempts are known
    Metrics::Counts attempts;           ///< by outcome, if it has a label of its own
    std::optional<double> budget_left;  ///< 0 to 1
    std::optional<policy::Circuit::State> circuit;
    std::optional<double> pause_seconds;                     ///< until its pause ends
    std::vector<CountedSecond<AttemptNumbers>> last_minute;  ///< written if `minute` is there
  };
  std::vector<Upstream> upstreams;  ///< by name
  std::vector<UnreadHost> unread;   ///< whose HTTPS could not be read
  struct Reload {
    bool succeeded = false;
    std::int64_t unix_time = 0;
    std::vector<std::string> errors;
  };
  std::optional<Reload> reload;  ///< the last one; absent: there was none
};

/// Which routes a document tells of: those at which it is true, by their place; empty: all of them.
using RouteChoice = std::vector<bool>;

/// One line.
std::string status_json(const StatusFacts&, const config::Settings&, const Metrics::Totals&,
                        const RouteChoice& routes = {});
/// The same for people, without a line end.
std::string status_text(const StatusFacts&, const config::Settings&, const Metrics::Totals&);

}  // namespace reprise::telemetry
