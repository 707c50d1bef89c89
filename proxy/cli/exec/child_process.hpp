// The command of exec: started once its environment is known,
// sent the signals that come for it, and waited for.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {

/// Used by one thread. The constructor forks, so that it has to come before every other thread: what the
/// child then does is bound by no lock of theirs. It waits for its environment.
class ChildProcess {
 public:
  /// Blocks the signals that are to be forwarded, in this thread and in all that it starts.
  explicit ChildProcess(const std::vector<std::string>& words);
  /// A child that was never started is gone.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Lets it begin. 0, or errno of why the program cannot be run.
  int start(const tools::Variables&);
  /// Forwards signals until it ends: its exit code, or 128 and the signal that ended it. What the terminal
  /// sends goes to it by itself, for it is of the same group.
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
