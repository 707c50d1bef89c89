#include "proxy/forward/replay/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace reprise::forward {
namespace {

// Opens a file without a name. O_EXCL: the file cannot be given a name later.
int open_nameless(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return descriptor;
  std::string path = folder + "/reprise-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(path.c_str());
  return named;
}

}  // namespace

FileCalls system_file_calls() { return {.open = open_nameless, .write = ::pwrite, .read = ::pread}; }

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int TemporaryFile::fail() {
  error_ = errno == 0 ? EIO : errno;
  return error_;
}

int TemporaryFile::append(std::string_view bytes) {
  if (error_ != 0) return error_;
  if (descriptor_ < 0) descriptor_ = calls_.open(folder_);
  if (descriptor_ < 0) return fail();
  while (!bytes.empty()) {
    errno = 0;
    const ssize_t taken = calls_.write(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) return fail();
    size_ += static_cast<std::uint64_t>(taken);
    bytes.remove_prefix(static_cast<std::size_t>(taken));
  }
  return 0;
}

int TemporaryFile::abandon() {
  if (error_ == 0) error_ = ECANCELED;
  return error_;
}

int TemporaryFile::read(char* bytes, std::size_t count, std::uint64_t offset) {
  if (error_ != 0) return error_;
  while (count > 0) {
    errno = 0;
    const ssize_t got = calls_.read(descriptor_, bytes, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail();
    bytes += got;
    count -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
  return 0;
}

}  // namespace reprise::forward
