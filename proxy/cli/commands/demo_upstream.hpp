// A flaky upstream for trying reprise out: it fails by a
// script, and says on stdout what it did to each request.
#pragma once

#include <string>

namespace reprise::cli {

struct DemoOptions {
  std::string bind = "127.0.0.1:0";
  std::string script = "503,503,200";  ///< statuses and `reset`, per `id`; the last one stays
};

/// Prints `listening on ADDRESS:PORT`, then a line per request, until SIGTERM or SIGINT. False (and a
/// sentence on stderr) if it cannot be bound or the options are no address or script. /flaky?id=X follows the
/// script anew for every X (and counts requests without an id as one); /slow answers after a second; /reset
/// resets; anything else is 200.
bool run_demo(const DemoOptions&);

}  // namespace reprise::cli
