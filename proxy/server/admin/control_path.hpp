// Checks whether a process listens on a unix socket.
#pragma once

#include <string>

namespace reprise::server {

/// Returns 0 if a connection succeeds (it is closed again), else the errno.
int try_control(const std::string& path);

}  // namespace reprise::server
