// Finds the process that listens at an address, as far as /proc permits.
#pragma once

#include <string>

#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

/// Describes the process that listens at the address, for example `pid 4711: reprise run -c a.yaml`. If the
/// process is not visible, returns a text such as `a process of user 998`. Returns an empty text if no
/// process listens there. `proc`: the folder to read; tests pass another one.
std::string holder_of(const tcp::endpoint&, const std::string& proc = "/proc");

}  // namespace reprise::forward
