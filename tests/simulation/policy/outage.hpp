// An upstream that is away for a minute under steady load: how much more it is asked, and how soon it serves
// again. A budget bounds its window, not each second: the first retries of an outage may come all at once.
#pragma once

#include "proxy/policy/decision/route_policy.hpp"

namespace reprise::simulation {

/// What the upstream says while it is away.
enum class Away : std::uint8_t { refuses, says_503 };

/// What came of it.
struct OutageFigures {
  /// Attempts that sent a byte in the worst ten seconds, a budget's window, of the requests that came in ten.
  unsigned window_percent = 0;
  unsigned after_percent = 0;          ///< the same of a second, once the upstream is back
  unsigned recovery_milliseconds = 0;  ///< from the return until every new request succeeds at attempt 1
  std::uint64_t requests = 0;
};

/// 200 requests a second for 30 s, 60 s of outage and 60 s more, in virtual time, all of one host.
OutageFigures play_outage(const policy::RoutePolicy&, Away);

}  // namespace reprise::simulation
