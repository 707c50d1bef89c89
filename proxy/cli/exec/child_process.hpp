// The child process of exec. It starts the command when the environment variables are known, and gets the
// signals that this process receives.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {

/// Single-threaded. The constructor forks, so call it before any other thread starts: otherwise the child
/// could inherit a lock that another thread holds. The forked child waits until `start` passes its
/// environment.
class ChildProcess {
 public:
  /// Forks the child. Blocks the signals that will be forwarded, in this thread and in all threads that this
  /// thread starts.
  explicit ChildProcess(const std::vector<std::string>& words);
  /// Ends the child if `start` was not called.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Starts the command with these environment variables. Returns 0, or the errno of the failed execution.
  int start(const tools::Variables&);
  /// Forwards signals until the child ends. Returns the exit code of the child, or 128 plus the number of the
  /// signal that ended the child. Does not forward signals of the terminal, because the child is in the same
  /// process group and receives them directly.
  int wait();

 private:
  [[noreturn]] void become(const std::vector<std::string>& words, int from_parent, int to_parent) const;
  void pass_on(const siginfo_t&) const;

  sigset_t waited_{};
  sigset_t before_{};
  pid_t child_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
};

}  // namespace reprise::cli
