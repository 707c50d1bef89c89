// Listeners from the command line alone: `--forward PORT`, `--gateway PORT=URL`.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"

namespace reprise::cli {

struct ListenerArguments {
  std::vector<std::string> forwards;  ///< `3128` or `127.0.0.1:3128`
  std::vector<std::string> gateways;  ///< `3180=https://api.example.com`

  bool empty() const { return forwards.empty() && gateways.empty(); }
};

/// The built-in defaults with these listeners, on 127.0.0.1, in place of theirs. What is wrong is said in one
/// line for each argument. Flags and variables that set more are in it.
struct FromArguments {
  config::Loaded loaded;
  std::vector<std::string> faults;
  int code = 0;  ///< to exit with if there are faults
};
FromArguments configuration_of(const ListenerArguments&, const config::Flags&);

}  // namespace reprise::cli
