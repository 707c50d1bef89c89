// Reads the configuration of a running proxy, for a command without a configuration file.
#pragma once

#include <string>

#include "config/given.hpp"
#include "config/load.hpp"
#include "proxy/server/admin/ask_admin.hpp"

namespace reprise::cli {

/// The configuration that a running proxy has reported.
struct RunningConfiguration {
  config::Loaded loaded;
  std::string file;   ///< file of that proxy; empty for built-in defaults
  std::string words;  ///< where the configuration comes from, for people
  std::string fault;  ///< why there is no configuration; empty if there is one
};

/// Reads the configuration from the admin listener. The flags override the reported values.
RunningConfiguration ask_running(const server::AdminAddress&, const config::Flags&);
/// Reads the configuration from a control socket. The flags override the reported values.
RunningConfiguration ask_running(const std::string& control, const config::Flags&);

}  // namespace reprise::cli
