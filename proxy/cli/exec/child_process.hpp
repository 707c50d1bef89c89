// The child process of exec: starts when its environment is known, gets the forwarded signals, and is waited
// for.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {

/// For use on one thread. The constructor forks, so it must run before any other thread exists: otherwise the
/// child could inherit a lock held by such a thread. The child then waits for its environment.
class ChildProcess {
 public:
  /// Forks. Blocks the signals to be forwarded, in this thread and in all threads that it starts.
  explicit ChildProcess(const std::vector<std::string>& words);
  /// Ends a child that was never started.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Starts the command with these variables. Returns 0, or the errno that says why the program cannot be
  /// run.
  int start(const tools::Variables&);
  /// Forwards signals until the child ends. Returns its exit code, or 128 plus the number of the signal that
  /// ended it. The terminal's own signals are not forwarded: the child is in the same process group and gets
  /// them directly.
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
