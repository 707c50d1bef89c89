// Drains, resumes, shuts down and ends the process.
#pragma once

#include "proxy/server/process/config_control.hpp"
#include "proxy/server/process/runtime.hpp"

namespace reprise::server {

class Lifecycle {
 public:
  Lifecycle(Runtime& runtime, ConfigControl& config) : runtime_(runtime), config_(config) {}

  /// Starts the same graceful shutdown as SIGTERM. Does nothing if it has already started. Thread-safe.
  void stop();
  /// Stops the event loops of all workers at once.
  void stop_now();
  /// Starts draining: the proxy is no longer ready, and every response ends its connection. Thread-safe.
  void drain();
  /// Undoes `drain`: the proxy is ready again and keeps connections open.
  void undo_drain();

 private:
  Task<void> shut_down();
  Task<void> wait_for_sessions(Instant limit);
  Task<void> close_admin();
  void end_after_response();

  Runtime& runtime_;
  ConfigControl& config_;
  /// Number of threads that have not closed their listeners yet, during a shutdown.
  std::atomic<std::size_t> open_listeners_{0};
};

}  // namespace reprise::server
