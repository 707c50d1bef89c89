// `reprise top` on a terminal: polls the proxy, draws, and handles keys and signals until the user quits.
#pragma once

#include <string>

#include "proxy/server/admin/ask_admin.hpp"
#include "proxy/tools/top/text.hpp"

namespace reprise::cli {

struct ScreenOptions {
  server::AdminAddress at;
  Duration interval;          ///< between two polls
  std::string interval_text;  ///< the interval as text
  bool colour = true;
  tools::Charset charset;
  int in = 0;
  int out = 1;
};

struct ScreenEnd {
  std::string error;  ///< why the screen could not start; empty if it did
  int signal = 0;     ///< the signal that must end this process; 0 if the user quit
};

/// Runs the screen until it ends. Blocks. Restores the terminal before returning in every case. If the proxy
/// does not respond at first, that is an error; later it is shown and the proxy is polled again. SIGINT and a
/// terminal that is gone quit; SIGTERM, SIGHUP and SIGQUIT end; SIGTSTP stops this process.
ScreenEnd show_top(const ScreenOptions&);

/// Returns the message for a response that does not come from an admin listener.
std::string not_understood(const server::AdminAddress&, const server::AdminResponse&, const std::string& why);

}  // namespace reprise::cli
