#include "tests/support/descriptors.hpp"

#include <fcntl.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace reprise::play {
namespace {

/// Counts the descriptors whose link under /proc begins with `kind`.
std::size_t count_descriptors(std::string_view kind) {
  std::size_t found = 0;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // set if the descriptor was closed after the folder was listed
    const std::string link = std::filesystem::read_symlink(one.path(), gone).string();
    const int flags = ::fcntl(std::atoi(one.path().filename().c_str()), F_GETFD);
    // UBSan may open a pipe at any time, to check whether an object's memory is readable.
    const bool probe = link.starts_with("pipe:") && (flags & FD_CLOEXEC) == 0;
    if (!gone && flags >= 0 && !probe && link.starts_with(kind)) ++found;
  }
  return found;
}

}  // namespace

std::size_t open_descriptors() { return count_descriptors(""); }

std::size_t open_pipe_ends() { return count_descriptors("pipe:"); }

}  // namespace reprise::play
