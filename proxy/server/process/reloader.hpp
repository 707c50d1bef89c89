// Reloads the configuration when its files change or a reload is requested, on its own thread.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "proxy/server/process/file_watch.hpp"

namespace reprise::server {

/// Result of one reload.
struct ReloadReport {
  bool succeeded = false;
  std::string hash;                ///< hash of the current configuration
  std::int64_t unix_time = 0;      ///< end of the reload, in seconds since 1970; 0 if there was no reload yet
  std::vector<std::string> words;  ///< warnings if the reload succeeded, else errors with file:line:col
};

/// Owns the thread that reloads. The thread runs from `start` to `stop`.
class Reloader {
 public:
  using Done = std::function<void(const ReloadReport&)>;

  /// `reload` is called on the reloader's thread. `files` is called after each reload and returns the files
  /// to watch.
  Reloader(std::function<ReloadReport()> reload, std::function<std::vector<WatchedFile>()> files,
           WatchTimes times = {});
  ~Reloader() { stop(); }
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

  void start();
  /// Requests a reload that begins after this call. `done` is called on the reloader's thread with the
  /// result, or with a failure if that thread ends first. Thread-safe.
  void ask(Done done = {});
  /// Ends the reloader's thread and waits for its end. Precondition: not called on that thread.
  void stop();

 private:
  void run();
  void reload_for_all();
  std::vector<Done> take_waiting();

  const std::function<ReloadReport()> reload_;
  const std::function<std::vector<WatchedFile>()> files_;
  FileWatch watch_;
  std::mutex mutex_;
  std::vector<Done> waiting_;  ///< guarded by the mutex
  bool ended_ = false;         ///< guarded by the mutex
  std::thread thread_;
};

}  // namespace reprise::server
