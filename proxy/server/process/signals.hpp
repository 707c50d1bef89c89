// Handles the signals of a running proxy: SIGTERM, SIGINT and SIGQUIT end it, SIGHUP reloads, and the other
// handled signals are ignored.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <set>

#include "proxy/net/io/task.hpp"

namespace reprise::server {

/// Makes SIGTERM, SIGINT and SIGQUIT end the process with exit code 0, and ignores SIGHUP, SIGUSR1 and
/// SIGUSR2. Call first in main, because signals have no default action in the first process of a container.
void end_at_signals();

/// Blocks the signals that `Signals` reads, permanently, in this thread and in the threads that it starts
/// later. Each signal stays pending until it is read; signals that arrive after the proxy has ended have no
/// effect. Call before any thread starts.
void hold_signals();

/// Reads the signals of the process. Preconditions: every thread has blocked them (`hold_signals`); at most
/// one object per process.
class Signals {
 public:
  /// The handlers of the signals. They are called on the thread of the io_context.
  struct Handlers {
    std::function<void()> stop;      ///< called for the first SIGTERM, SIGINT or SIGQUIT
    std::function<void()> stop_now;  ///< called for each further SIGTERM, SIGINT or SIGQUIT
    std::function<void()> reload;    ///< called for each SIGHUP
    /// Called for any other signal, when it arrives for the first time.
    std::function<void(const char* name)> ignored;
  };

  Signals(asio::io_context& io, Handlers handlers);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  static Task<void> read_all(Signals&);
  void obey(int signal);

  asio::posix::stream_descriptor signals_;
  Handlers handlers_;
  bool ending_ = false;
  std::set<int> reported_;
};

}  // namespace reprise::server
