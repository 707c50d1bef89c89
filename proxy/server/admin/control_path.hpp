// Checks whether a process listens on a unix socket.
#pragma once

#include <string>

namespace reprise::server {

/// Connects to the socket and closes the connection again. Returns 0 on success, else the errno.
int try_control(const std::string& path);

}  // namespace reprise::server
