// The one line that a service manager shows about this process (STATUS= of sd_notify(3)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::net {

/// What the line is about.
struct ServiceState {
  std::size_t routes = 0;              ///< without the default
  std::vector<std::string> listeners;  ///< such as `forward 127.0.0.1:3128`
  bool draining = false;
  std::int64_t reloaded = 0;  ///< when the last reload ended, in seconds since 1970; 0: there was none
  std::string why_not;        ///< why it failed; empty if it did not
};

/// A failed reload comes first, then draining, then what is served. One line of at most 500 bytes.
std::string status_line(const ServiceState&);

}  // namespace reprise::net
