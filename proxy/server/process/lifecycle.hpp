// How the process drains, comes back, shuts down and ends.
#pragma once

#include "proxy/server/process/config_control.hpp"
#include "proxy/server/process/runtime.hpp"

namespace reprise::server {

class Lifecycle {
 public:
  Lifecycle(Runtime& runtime, ConfigControl& config) : runtime_(runtime), config_(config) {}

  /// What SIGTERM does; a second one does not wait for anybody. Any thread.
  void stop();
  /// Ends the loops at once.
  void stop_now();
  /// Asks to be left: not ready any more, and every response ends its connection. Any thread.
  void leave();
  /// Undoes `leave`.
  void come_back();

 private:
  Task<void> shut_down();
  Task<void> wait_for_sessions(Instant limit);
  Task<void> close_admin();
  void end_connections_politely();

  Runtime& runtime_;
  ConfigControl& config_;
  /// Threads that have not closed their listeners, once they are told to.
  std::atomic<std::size_t> listening_{0};
};

}  // namespace reprise::server
