// Reads the configuration of a running proxy, for a command that was given no configuration file.
#pragma once

#include <string>

#include "config/given.hpp"
#include "config/load.hpp"
#include "proxy/server/admin/ask_admin.hpp"

namespace reprise::cli {

/// The configuration that a running proxy reports.
struct RunningConfiguration {
  config::Loaded loaded;
  std::string file;   ///< configuration file of that proxy; empty for the built-in defaults
  std::string words;  ///< human-readable source of the configuration
  std::string fault;  ///< why the configuration could not be read; empty on success
};

/// Reads the configuration of a running proxy through its admin listener. The flags override the reported
/// values.
RunningConfiguration ask_running(const server::AdminAddress&, const config::Flags&);
/// Reads the configuration of a running proxy through its control socket. The flags override the reported
/// values.
RunningConfiguration ask_running(const std::string& control, const config::Flags&);

}  // namespace reprise::cli
