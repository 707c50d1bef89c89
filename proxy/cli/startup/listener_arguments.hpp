// Makes a configuration from listeners on the command line: `--forward PORT`, `--gateway PORT=URL`.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"

namespace reprise::cli {

struct ListenerArguments {
  std::vector<std::string> forwards;  ///< items such as `3128` or `127.0.0.1:3128`
  std::vector<std::string> gateways;  ///< `3180=https://api.example.com`

  bool empty() const { return forwards.empty() && gateways.empty(); }
};

/// The built-in defaults with the given listeners in place of the default listener. A listener without an
/// address is bound to 127.0.0.1. Other flags and variables also apply. `faults` has one line for each wrong
/// argument.
struct FromArguments {
  config::Loaded loaded;
  std::vector<std::string> faults;
  int code = 0;  ///< exit code to use if there are faults
};
FromArguments configuration_of(const ListenerArguments&, const config::Flags&);

}  // namespace reprise::cli
