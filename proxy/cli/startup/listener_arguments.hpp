// Makes a configuration from listeners on the command line: `--forward PORT`, `--gateway PORT=URL`.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"

namespace reprise::cli {

struct ListenerArguments {
  std::vector<std::string> forwards;  ///< values of --forward, such as `3128` or `127.0.0.1:3128`
  std::vector<std::string> gateways;  ///< values of --gateway, such as `3180=https://api.example.com`

  bool empty() const { return forwards.empty() && gateways.empty(); }
};

/// The configuration that `ListenerArguments` describe: the built-in defaults with these listeners instead of
/// the default listener. A listener without an address is bound to 127.0.0.1. Other flags and environment
/// variables also apply. `faults` has one line for each wrong argument.
struct FromArguments {
  config::Loaded loaded;
  std::vector<std::string> faults;
  int code = 0;  ///< exit code to use if `faults` is not empty
};
FromArguments configuration_of(const ListenerArguments&, const config::Flags&);

}  // namespace reprise::cli
