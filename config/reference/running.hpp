// Writes the configuration of a running proxy as text, and reads that text in a command.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace reprise::config {

/// The place where a route of the running configuration is written.
struct RoutePlace {
  std::size_t line = 0;
  std::string preset;  ///< name of the preset; empty: the file itself
};

/// The parts of the text of a running proxy.
struct RunningText {
  std::string yaml;  ///< loads to the effective settings, without hidden passwords
  std::string file;  ///< configuration file of that proxy; empty: built-in defaults
  std::string hash;
  std::map<std::string, RoutePlace, std::less<>> places;  ///< by name of the route
};

/// Returns effective_yaml after comment lines that name the file and the line of each route.
std::string running_text(const Settings&, const std::string& file, const std::string& hash);
/// Reads the result of running_text. `yaml` is empty if the text is not one.
RunningText read_running(std::string_view text);
/// Sets the line and the preset of each route to its place.
void place_routes(const RunningText&, Settings&);

}  // namespace reprise::config
