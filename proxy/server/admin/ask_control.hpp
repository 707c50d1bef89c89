// One command to a running proxy, and its answer.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "proxy/server/admin/control_socket.hpp"

namespace reprise::server {

/// Blocks, for as long as `patience` without a byte. Whatever stands in the way is an answer that says so:
/// nobody there, not allowed, none in time.
ControlResponse ask_control(const std::string& path, std::string_view command, std::chrono::seconds patience);

}  // namespace reprise::server
