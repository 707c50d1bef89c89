// The configuration of a running proxy as text: what it tells, and how a command reads that.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace reprise::config {

/// The place where a route of the running configuration is written.
struct RoutePlace {
  std::size_t line = 0;
  std::string preset;  ///< empty: in the file itself
};

/// The text of a running proxy, taken apart.
struct RunningText {
  std::string yaml;  ///< loads to the settings in force, but for the secrets
  std::string file;  ///< of that proxy; empty: built-in defaults
  std::string hash;
  std::map<std::string, RoutePlace, std::less<>> places;  ///< by the name of the route
};

/// effective_yaml without its secrets, after comments that name the file and the line of each route.
std::string running_text(const Settings&, const std::string& file, const std::string& hash);
/// Reads running_text. Returns empty `yaml` if the text is none.
RunningText read_running(std::string_view text);
/// Gives each route the place where it was written.
void place_routes(const RunningText&, Settings&);

}  // namespace reprise::config
