// Writes the configuration of a running proxy as text, and reads that text back in a command.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace reprise::config {

/// The place in a file where a route of the running configuration is written.
struct RoutePlace {
  std::size_t line = 0;
  std::string preset;  ///< name of the preset; empty for the configuration file
};

/// The parts of the text that running_text returns.
struct RunningText {
  std::string yaml;  ///< YAML that loads to the effective settings, except hidden passwords
  std::string file;  ///< configuration file of the running proxy; empty for the built-in defaults
  std::string hash;
  std::map<std::string, RoutePlace, std::less<>> places;  ///< place of each route, by the name of the route
};

/// Returns the YAML of effective_yaml, preceded by comment lines that name the file and the line of each
/// route.
std::string running_text(const Settings&, const std::string& file, const std::string& hash);
/// Parses a text of running_text. `yaml` is empty if the text has another format.
RunningText read_running(std::string_view text);
/// Sets the line and the preset of each route in the settings.
void place_routes(const RunningText&, Settings&);

}  // namespace reprise::config
