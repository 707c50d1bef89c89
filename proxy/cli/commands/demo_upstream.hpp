// An upstream for demonstrations. It fails as its script says, and prints its response to each request on
// standard output.
#pragma once

#include <string>

namespace reprise::cli {

struct DemoOptions {
  std::string bind = "127.0.0.1:0";
  std::string script = "503,503,200";  ///< statuses or `reset`, one per request; the last one repeats
};

/// Serves until SIGTERM or SIGINT. Prints `listening on ADDRESS:PORT`, then one line for each request. If the
/// address cannot be bound or an option is malformed, prints why on standard error and returns false.
/// - /flaky?id=X runs the script from its start for each new X; all requests without an id share one run.
/// - /slow responds after a second.
/// - /reset resets the connection.
/// - Any other path gets 200.
bool run_demo(const DemoOptions&);

}  // namespace reprise::cli
