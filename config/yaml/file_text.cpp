#include "config/yaml/file_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace reprise::config {
namespace {

std::string words_of(int error) { return std::generic_category().message(error); }

std::string trouble_with_kind(mode_t mode) {
  if (S_ISREG(mode)) return {};
  if (S_ISDIR(mode)) return words_of(EISDIR);
  if (S_ISFIFO(mode)) return "it is a pipe: save its content in a regular file";
  return "it is not a regular file: name a file";
}

FileText read_all(int descriptor, std::size_t most) {
  FileText file;
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) return {{}, words_of(errno)};
  file.trouble = trouble_with_kind(found.st_mode);
  std::array<char, 16 * 1024> piece{};
  while (file.trouble.empty() && file.text.size() <= most) {
    const ssize_t count =
        ::read(descriptor, piece.data(), std::min(piece.size(), most + 1 - file.text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) file.trouble = words_of(errno);
    if (count <= 0) break;
    file.text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return file;
}

}  // namespace

FileText text_of_file(const std::string& path, std::size_t most) {
  // O_NONBLOCK makes a pipe open at once, even without a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  // A socket cannot be opened: open fails with ENXIO.
  if (descriptor < 0) return {{}, errno == ENXIO ? "it is not a regular file: name a file" : words_of(errno)};
  FileText file = read_all(descriptor, most);
  ::close(descriptor);
  return file;
}

}  // namespace reprise::config
