// Takes up a configuration anew when its files change or somebody asks, on a thread of its own.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "proxy/server/process/file_watch.hpp"

namespace reprise::server {

/// What became of one reload.
struct ReloadReport {
  bool succeeded = false;
  std::string hash;                ///< of the configuration that is in force now
  std::int64_t unix_time = 0;      ///< when; 0: there was none yet
  std::vector<std::string> words;  ///< warnings where it succeeded, else what is wrong, with file:line:col
};

/// The thread runs from `start` to `stop`.
class Reloader {
 public:
  using Told = std::function<void(const ReloadReport&)>;

  /// `reload` is called on the thread and returns what became
  /// of it; `files` says, after it, which files to watch.
  Reloader(std::function<ReloadReport()> reload, std::function<std::vector<WatchedFile>()> files,
           WatchTimes times = {});
  ~Reloader() { stop(); }
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

  void start();
  /// A reload that begins after this call; `told` is called on the thread once it is over, or with a failure
  /// where the thread ends before. Any thread.
  void ask(Told told = {});
  /// Returns once the thread has ended. Not on it.
  void stop();

 private:
  void run();
  void reload_for_all();
  std::vector<Told> take_waiting();

  const std::function<ReloadReport()> reload_;
  const std::function<std::vector<WatchedFile>()> files_;
  FileWatch watch_;
  std::mutex mutex_;
  std::vector<Told> waiting_;  ///< under the mutex
  bool ended_ = false;         ///< the same
  std::thread thread_;
};

}  // namespace reprise::server
