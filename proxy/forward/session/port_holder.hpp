// Finds the process that listens at an address, as far as /proc permits.
#pragma once

#include <string>

#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

/// Returns `pid 4711: reprise run -c a.yaml`, `a process of user 998` if the process is not visible, or an
/// empty text if no process listens there. `proc`: the folder to read; tests pass another one.
std::string holder_of(const tcp::endpoint&, const std::string& proc = "/proc");

}  // namespace reprise::forward
