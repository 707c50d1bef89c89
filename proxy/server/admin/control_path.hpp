// Whether somebody listens at the path of a socket.
#pragma once

#include <string>

namespace reprise::server {

/// 0 if a connection to it stands (it is closed again), else why not: an errno.
int try_control(const std::string& path);

}  // namespace reprise::server
