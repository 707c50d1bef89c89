// Sends one command to a running proxy.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "proxy/server/admin/control_socket.hpp"

namespace reprise::server {

/// The path of `admin.control` in the systemd unit and the manifests. Commands use it if no other is given.
inline constexpr const char* usual_control_path = "/run/reprise/control.sock";

/// Sends a command and blocks until the response is complete, or until no byte has arrived for `timeout`.
/// Every failure is returned as a response that explains it: no proxy listens, no permission, no response in
/// time.
ControlResponse ask_control(const std::string& path, std::string_view command, std::chrono::seconds timeout);

}  // namespace reprise::server
