// Waits until the content of any watched file changes.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proxy/net/io/clock.hpp"
#include "proxy/net/tls/file_digest.hpp"

namespace reprise::server {

/// When to check the files. `quiet`: time without events before a check; `most`: longest delay of a check
/// after the first event; `look`: interval of checks without any event.
struct WatchTimes {
  Duration quiet = std::chrono::milliseconds(100);
  Duration most = std::chrono::seconds(1);
  Duration look = std::chrono::seconds(10);
};

struct WatchedFile {
  std::string path;
  /// Digest of the content that is in use (`digest_of_files`), so that a change before the watch began is
  /// detected. If empty, the content at the beginning of the watch is the one in use.
  std::string digest{};
};

/// Watches the folders of files (inotify), and compares the content of the files after an event. Detects a
/// file that is written, replaced by rename, deleted, or reached through a link that changes (`..data` of a
/// ConfigMap). If the kernel sends no event (no watch left, a network file system), the periodic check
/// detects the change. Used by one thread; `ask` and `stop` are thread-safe.
class FileWatch {
 public:
  enum class Woken : std::uint8_t { changed, asked, stopped };

  explicit FileWatch(WatchTimes times = {});
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  /// Replaces the list of files. A file that was watched before is still compared with its known content.
  void watch(const std::vector<WatchedFile>& files);
  /// Blocks until the content of a file differs from its content at the last return, or until `ask` or `stop`
  /// is called.
  Woken wait();
  /// Makes the current or next `wait` return.
  void ask();
  /// Makes the current and every later `wait` return.
  void stop();

 private:
  struct Held {
    std::string digest;
    /// Stamp that was taken before the digest; none if the file had just changed.
    std::optional<net::FileStamp> stamp{};
  };

  bool look();
  void watch_folders();
  bool drain_events() const;
  unsigned take_requests();

  const WatchTimes times_;
  std::map<std::string, Held> held_;  ///< by path
  int inotify_ = -1;                  ///< inotify descriptor; -1 if the kernel has none left
  int requests_ = -1;                 ///< eventfd
  bool stopped_ = false;
};

}  // namespace reprise::server
