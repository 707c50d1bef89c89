// Finds the configuration on which `explain` bases an explanation.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/cli/startup/configuration.hpp"

namespace reprise::cli {

/// The command-line arguments that name the configuration.
struct BasisArguments {
  std::string file;
  std::string admin;    ///< HOST:PORT of the running proxy's admin listener; may be empty
  std::string control;  ///< control socket of the running proxy; may be empty
  std::shared_ptr<config::Flags> flags = std::make_shared<config::Flags>();
};

struct Basis {
  config::Loaded loaded;
  std::string file;   ///< configuration file; empty for the built-in defaults
  std::string words;  ///< where the settings come from; empty if the command line names the file
  bool is_running = false;
};

/// Returns the configuration on which to base the explanation. If the proxy named on the command line does
/// not report its configuration, prints why, sets the exit `code`, and returns nothing.
std::optional<Basis> find_basis(const BasisArguments&, int& code);

}  // namespace reprise::cli
