// A flaky upstream for demonstrations: fails by a script, and prints on standard output how it responds to
// each request.
#pragma once

#include <string>

namespace reprise::cli {

struct DemoOptions {
  std::string bind = "127.0.0.1:0";
  std::string script = "503,503,200";  ///< statuses and `reset`, applied per `id`; the last one repeats
};

/// Serves until SIGTERM or SIGINT. Prints `listening on ADDRESS:PORT`, then a line per request. Returns
/// false, with a sentence on standard error, if the address cannot be bound or an option is malformed.
/// - /flaky?id=X runs the script from its start for every new X; requests without an id share one run.
/// - /slow responds after a second.
/// - /reset resets the connection.
/// - Any other path gets 200.
bool run_demo(const DemoOptions&);

}  // namespace reprise::cli
