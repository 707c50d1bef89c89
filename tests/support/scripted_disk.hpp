// A disk for tests that can be full, broken, slow or stuck on demand. Its files are real.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>

#include "proxy/forward/replay/temporary_file.hpp"

namespace reprise::play {

/// Thread-safe. Must outlive every user of calls().
class ScriptedDisk {
 public:
  static constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();

  std::atomic<int> open_error{0};             ///< errno of every open; 0: opens succeed
  std::atomic<int> write_error{ENOSPC};       ///< errno of a write that exceeds `room`
  std::atomic<std::uint64_t> room{endless};   ///< bytes that may still be written, over all files
  std::atomic<std::size_t> at_once{1 << 30};  ///< maximum number of bytes that one call writes or reads
  /// Offset from which reads fail with EIO; 0: all reads fail.
  std::atomic<std::uint64_t> readable{endless};
  std::atomic<std::uint64_t> written{0};  ///< bytes written so far

  forward::FileCalls calls() {
    forward::FileCalls calls = forward::system_file_calls();
    calls.open = [this, open = calls.open](const std::string& folder) {
      if (open_error == 0) return open(folder);
      errno = open_error;
      return -1;
    };
    calls.write = [this, write = calls.write](int file, const char* bytes, std::size_t count, off_t offset) {
      wait_while_stuck();
      const std::size_t most = std::min({count, at_once.load(), static_cast<std::size_t>(room.load())});
      if (most == 0) {
        errno = write_error;
        return ssize_t{-1};
      }
      const ssize_t done = write(file, bytes, most, offset);
      if (room != endless) room -= most;
      written += most;
      return done;
    };
    calls.read = [this, read = calls.read](int file, char* bytes, std::size_t count, off_t offset) {
      const auto from = static_cast<std::uint64_t>(offset);
      if (from < readable) {
        const std::uint64_t left = readable - from;
        const std::size_t most = std::min<std::uint64_t>({count, at_once.load(), left});
        return read(file, bytes, most, offset);
      }
      errno = EIO;
      return ssize_t{-1};
    };
    return calls;
  }

  /// Blocks all writes until loosen() is called.
  void stick() {
    const std::scoped_lock lock(mutex_);
    stuck_ = true;
  }
  void loosen() {
    const std::scoped_lock lock(mutex_);
    stuck_ = false;
    changed_.notify_all();
  }
  /// Returns the number of writes that are blocked now.
  unsigned waiting() {
    const std::scoped_lock lock(mutex_);
    return waiting_;
  }

 private:
  void wait_while_stuck() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [this] { return !stuck_; });
    --waiting_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stuck_ = false;
  unsigned waiting_ = 0;
};

}  // namespace reprise::play
