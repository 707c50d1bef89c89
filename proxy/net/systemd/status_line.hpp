// The status line that a service manager shows for this process (STATUS= of sd_notify(3)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::net {

/// Contents of the status line.
struct ServiceState {
  std::size_t routes = 0;              ///< number of routes, without the default route
  std::vector<std::string> listeners;  ///< mode and address, such as `forward 127.0.0.1:3128`
  bool draining = false;
  /// Time at which the last reload ended, in seconds since 1970; 0 if there was no reload.
  std::int64_t reloaded = 0;
  std::string why_not;  ///< why the last reload failed; empty if it succeeded
};

/// Returns one line of at most 500 bytes: first a failed reload, then a drain, then the routes and listeners.
std::string status_line(const ServiceState&);

}  // namespace reprise::net
