// The configuration of a running proxy, asked for by a command that has no file.
#pragma once

#include <string>

#include "config/given.hpp"
#include "config/load.hpp"
#include "proxy/server/admin/ask_admin.hpp"

namespace reprise::cli {

/// What a running proxy has told.
struct RunningConfiguration {
  config::Loaded loaded;
  std::string file;   ///< of that proxy; empty: built-in defaults
  std::string words;  ///< where this comes from
  std::string fault;  ///< why there is none; empty: there is one
};

/// Asks at the admin listener. The flags are put over what the proxy tells.
RunningConfiguration ask_running(const server::AdminAddress&, const config::Flags&);
/// Asks at a control socket.
RunningConfiguration ask_running(const std::string& control, const config::Flags&);

}  // namespace reprise::cli
