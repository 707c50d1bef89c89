// An upstream that is away for one minute under steady load: how much load retries add, and how soon requests
// succeed again. A budget bounds the load in its window, not in each second: the first retries of an outage
// may all come at once.
#pragma once

#include "proxy/policy/decision/route_policy.hpp"

namespace reprise::simulation {

/// How the upstream fails while it is away.
enum class Away : std::uint8_t { refuses, says_503 };

/// Measured results of an outage.
struct OutageFigures {
  /// Attempts that sent a byte in the busiest ten seconds (the window of a budget), in percent of the
  /// requests that arrive in ten seconds.
  unsigned window_percent = 0;
  /// Attempts in the busiest second after the upstream is back, in percent of the requests of one second.
  unsigned after_percent = 0;
  /// Time from the upstream's return until every new request succeeds at attempt 1.
  unsigned recovery_milliseconds = 0;
  std::uint64_t requests = 0;
};

/// Plays 200 requests a second to one host in virtual time: 30 s before the outage, 60 s of outage, 60 s
/// after it.
OutageFigures play_outage(const policy::RoutePolicy&, Away);

}  // namespace reprise::simulation
