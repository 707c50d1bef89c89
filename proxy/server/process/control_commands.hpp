// What a running proxy does that is told to by its control socket.
#pragma once

#include <string_view>

#include "proxy/server/admin/control_socket.hpp"
#include "proxy/server/process/admin_views.hpp"
#include "proxy/server/process/config_control.hpp"
#include "proxy/server/process/lifecycle.hpp"
#include "proxy/server/process/runtime.hpp"

namespace reprise::server {

/// Everything must outlive it.
class ControlCommands {
 public:
  ControlCommands(Runtime& runtime, ConfigControl& config, Lifecycle& lifecycle, AdminViews& views)
      : runtime_(runtime), config_(config), lifecycle_(lifecycle), views_(views) {}

  /// What this returns runs on the first io thread, and not after this object is gone.
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
