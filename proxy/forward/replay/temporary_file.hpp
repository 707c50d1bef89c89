// A file without a name that holds one request body: opened at its first write, gone with its last owner.
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

/// The system calls that it is made of; each sets errno like the system's own. Tests put failing ones in
/// their place. Called on the disk thread.
struct FileCalls {
  /// A descriptor for a nameless file in that folder, open for reading and writing; -1: errno says why.
  std::function<int(const std::string& folder)> open;
  std::function<ssize_t(int descriptor, const char* bytes, std::size_t count, off_t offset)> write;
  std::function<ssize_t(int descriptor, char* bytes, std::size_t count, off_t offset)> read;
  /// For how long the first 64 MiB of a body wait, in all, for a disk that is slower than the client, and
  /// each further 64 MiB as long again. Then the body is not held any more, and streams on.
  policy::Duration patience = std::chrono::seconds(1);
  /// For how long a request that needs what is on the disk waits while the disk makes no progress.
  policy::Duration long_patience = std::chrono::seconds(10);
};

/// O_TMPFILE, or where the filesystem has none, mkostemp(3) and unlink(2) at once; pwrite(2), pread(2).
FileCalls system_file_calls();

/// Every call may block; used on the disk thread alone. The first failure is its last word: what was written
/// after a hole must never be read.
class TemporaryFile {
 public:
  /// `calls` must outlive it.
  TemporaryFile(const FileCalls& calls, std::string folder) : calls_(calls), folder_(std::move(folder)) {}
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// All of it behind what was written before; 0, or an errno.
  int append(std::string_view bytes);
  /// From now on every call fails: what was to be appended never was. Returns the errno.
  int abandon();
  /// Exactly `count` bytes from `offset`; 0, or an errno (EIO where the file has become shorter).
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
