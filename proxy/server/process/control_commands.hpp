// Executes the commands that a running proxy gets through its control socket.
#pragma once

#include <string_view>

#include "proxy/server/admin/control_socket.hpp"
#include "proxy/server/process/admin_views.hpp"
#include "proxy/server/process/config_control.hpp"
#include "proxy/server/process/lifecycle.hpp"
#include "proxy/server/process/runtime.hpp"

namespace reprise::server {

/// All arguments must outlive this object.
class ControlCommands {
 public:
  ControlCommands(Runtime& runtime, ConfigControl& config, Lifecycle& lifecycle, AdminViews& views)
      : runtime_(runtime), config_(config), lifecycle_(lifecycle), views_(views) {}

  /// Returns the command handler. It runs on the first io thread, and must not be called after this object is
  /// destroyed.
  ControlSocket::Commands commands();

 private:
  ControlResponse set_log_level(std::string_view level);
  ControlResponse pause(std::string_view host, std::string_view how_long);

  Runtime& runtime_;
  ConfigControl& config_;
  Lifecycle& lifecycle_;
  AdminViews& views_;
};

}  // namespace reprise::server
