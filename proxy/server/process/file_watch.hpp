// Waits until files hold something else than before.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proxy/net/io/clock.hpp"
#include "proxy/net/tls/file_digest.hpp"

namespace reprise::server {

/// How long what is changing has to be quiet before it is looked at, how long that may be put off, and how
/// often is looked without any sign.
struct WatchTimes {
  Duration quiet = std::chrono::milliseconds(100);
  Duration most = std::chrono::seconds(1);
  Duration look = std::chrono::seconds(10);
};

struct WatchedFile {
  std::string path;
  /// Of what it held before somebody read it (`digest_of_files`), so that no change is missed between that
  /// and the beginning of the watch; empty: what it holds then is what was read.
  std::string digest{};
};

/// What files hold is compared, and their folders are watched (inotify) so that it is known when: a file that
/// is written, renamed over, deleted, or reached by a link that is turned (`..data` of a ConfigMap). Where
/// the kernel gives no sign (no watch left, a file system of another host) the slow look finds it. Used by
/// one thread, `ask` and `stop` by any.
class FileWatch {
 public:
  enum class Woken : std::uint8_t { changed, asked, stopped };

  explicit FileWatch(WatchTimes times = {});
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  /// From now on these. What one of them held that was watched before is still what it is compared with.
  void watch(const std::vector<WatchedFile>& files);
  /// Blocks until one holds something else than when this last returned, or somebody asks or stops it.
  Woken wait();
  /// Makes `wait` return, the present one or the next.
  void ask();
  /// The same for good.
  void stop();

 private:
  struct Held {
    std::string digest;
    std::optional<net::FileStamp> stamp{};  ///< from before the digest was made, of a file that rested then
  };

  bool look();
  void watch_folders();
  bool drain_signs() const;
  unsigned take_wishes();

  const WatchTimes times_;
  std::map<std::string, Held> held_;  ///< by file
  int signs_ = -1;                    ///< inotify; -1: the kernel has none left
  int wishes_ = -1;                   ///< eventfd
  bool stopped_ = false;
};

}  // namespace reprise::server
