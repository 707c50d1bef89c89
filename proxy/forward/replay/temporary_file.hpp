// A file without a name that holds one request body, opened at its first write and deleted with its last
// owner.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::forward {

/// The system calls and time limits of temporary files. Each call sets errno like the system's own and runs
/// on the disk thread. Tests replace the calls with failing ones.
struct FileCalls {
  /// Opens a nameless file in that folder for reading and writing. Returns its descriptor, or -1 and errno.
  std::function<int(const std::string& folder)> open;
  std::function<ssize_t(int descriptor, const char* bytes, std::size_t count, off_t offset)> write;
  std::function<ssize_t(int descriptor, char* bytes, std::size_t count, off_t offset)> read;
  /// Total time that the first 64 MiB of a body may wait for a disk that is slower than the client; each
  /// further 64 MiB adds the same time. After that the body is still sent, but no longer held.
  policy::Duration patience = std::chrono::seconds(1);
  /// Longest time that a request waits for its stored data while the disk makes no progress.
  policy::Duration long_patience = std::chrono::seconds(10);
};

/// Returns the real calls: open with O_TMPFILE, or mkostemp(3) and unlink(2) if the filesystem does not
/// support it; pwrite(2); pread(2).
FileCalls system_file_calls();

/// Used on the disk thread only, because every call may block. After the first failure every call fails,
/// because bytes written after a gap must never be read.
class TemporaryFile {
 public:
  /// `calls` must outlive this object.
  TemporaryFile(const FileCalls& calls, std::string folder) : calls_(calls), folder_(std::move(folder)) {}
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Appends all bytes. Returns 0 or an errno.
  int append(std::string_view bytes);
  /// Makes every later call fail, because the bytes that should be appended are lost. Returns the errno.
  int abandon();
  /// Reads exactly `count` bytes from `offset`. Returns 0 or an errno (EIO if the file has become shorter).
  int read(char* bytes, std::size_t count, std::uint64_t offset);

 private:
  int fail();

  const FileCalls& calls_;
  const std::string folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  int error_ = 0;
};

}  // namespace reprise::forward
