// Which process listens at an address, as far as /proc lets this process see.
#pragma once

#include <string>

#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

/// Returns `pid 4711: reprise run -c a.yaml`, `a process of user 998` if the process cannot be seen, or an
/// empty text if nothing listens there. `proc`: the folder, other than /proc in tests.
std::string holder_of(const tcp::endpoint&, const std::string& proc = "/proc");

}  // namespace reprise::forward
