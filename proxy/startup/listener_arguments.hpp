// A configuration from the command line alone: `--forward PORT`, `--gateway PORT=URL`, `--admin PORT`.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"

namespace reprise::cli {

struct ListenerArguments {
  std::vector<std::string> forwards;  ///< `3128`
  std::vector<std::string> gateways;  ///< `3180=https://api.example.com`
  std::string admin;                  ///< `3129`; empty: the built-in one

  bool empty() const { return forwards.empty() && gateways.empty() && admin.empty(); }
};

/// The built-in defaults with these listeners, on 127.0.0.1, in place of theirs. What is wrong is said in one
/// line for each argument.
struct FromArguments {
  config::Loaded loaded;
  std::vector<std::string> faults;
};
FromArguments configuration_of(const ListenerArguments&);

}  // namespace reprise::cli
