// Runs `reprise top` on a terminal: polls the proxy, draws, and handles keys and signals until the user
// quits.
#pragma once

#include <string>

#include "proxy/server/admin/ask_admin.hpp"
#include "proxy/tools/top/text.hpp"

namespace reprise::cli {

struct ScreenOptions {
  server::AdminAddress at;
  Duration interval;          ///< time between two polls
  std::string interval_text;  ///< `interval` as text
  bool colour = true;
  tools::Charset charset;
  int in = 0;
  int out = 1;
};

struct ScreenEnd {
  std::string error;  ///< why the screen could not start; empty if it started
  int signal = 0;     ///< signal that must end this process; 0 if the user quit
};

/// Runs the screen until it ends. Blocks. Always restores the terminal before it returns. If the proxy does
/// not respond at first, returns an error. If the proxy stops responding later, shows this and continues to
/// poll. SIGINT, or the loss of the terminal, ends the screen as if the user quit. SIGTERM, SIGHUP and
/// SIGQUIT also end the screen, and `signal` of the result is then set. SIGTSTP stops this process until it
/// is continued.
ScreenEnd show_top(const ScreenOptions&);

/// Returns the error message for a response that did not come from an admin listener.
std::string not_understood(const server::AdminAddress&, const server::AdminResponse&, const std::string& why);

}  // namespace reprise::cli
