// `reprise top` on a terminal: asks, draws, obeys keys and signals until somebody quits.
#pragma once

#include <string>

#include "proxy/server/admin/ask_admin.hpp"
#include "proxy/tools/top/text.hpp"

namespace reprise::cli {

struct ScreenOptions {
  server::AdminAddress at;
  Duration interval;          ///< between two questions
  std::string interval_text;  ///< the same in words
  bool colour = true;
  tools::Charset charset;
  int in = 0;
  int out = 1;
};

struct ScreenEnd {
  std::string error;  ///< why it did not begin; empty: it did
  int signal = 0;     ///< that is to end this process; 0: somebody quit
};

/// Blocks. The terminal is the shell's again when it returns, whatever ended it. A proxy that does not
/// respond at the first question is an error; later it is shown, and asked again. SIGINT and a terminal that
/// is gone quit; SIGTERM, SIGHUP and SIGQUIT end it; SIGTSTP stops this process.
ScreenEnd show_top(const ScreenOptions&);

/// What to say of a response that is none of an admin listener.
std::string not_understood(const server::AdminAddress&, const server::AdminResponse&, const std::string& why);

}  // namespace reprise::cli
