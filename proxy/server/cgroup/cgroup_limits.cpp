#include "proxy/server/cgroup/cgroup_limits.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <vector>

#include "config/keys/scalar.hpp"
#include "proxy/server/cgroup/limit_files.hpp"
#include "proxy/server/cgroup/membership.hpp"

namespace reprise::server {
namespace {

// Maximum number of bytes to read from a file. Enough for /proc/self/mountinfo on a host with thousands of
// containers, where each container adds a mount: a line of a few hundred bytes.
constexpr std::size_t longest_text = 4 * 1024 * 1024;

// Returns the content of a file; empty if it cannot be read. Special files are not read, because they may
// block or never end.
std::string text_in(const std::string& file) {
  std::string text;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return text;
  struct stat found {};
  std::array<char, 4096> piece{};
  while (::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) && text.size() < longest_text) {
    const ssize_t count = ::read(descriptor, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  ::close(descriptor);
  return text;
}

/// Keeps the lowest of the limits read so far.
class Tightest {
 public:
  explicit Tightest(std::string root) : root_(std::move(root)) {}

  void look_into(const Group& group) {
    // Starts at the process's own group, so that the nearest group is reported if two groups have the same
    // limit.
    for (std::size_t depth = group.below.size() + 1; depth-- > 0;) {
      std::string folder = group.mount_point == "/" ? std::string() : group.mount_point;
      for (std::size_t i = 0; i < depth; ++i) folder.append("/").append(group.below[i]);
      look_into(group, folder + "/");
    }
  }
  Limits take() { return std::move(limits_); }

 private:
  void look_into(const Group& group, const std::string& folder) {
    if (group.is_unified) {
      for (const char* name : {"memory.max", "memory.high"}) memory(folder + name);
      cpus(folder + "cpu.max", cpus_in(text_in(root_ + folder + "cpu.max")));
    }
    if (group.has_memory) memory(folder + "memory.limit_in_bytes");
    if (group.has_cpu) {
      const std::string quota = folder + "cpu.cfs_quota_us";
      cpus(quota, cpus_in(text_in(root_ + quota), text_in(root_ + folder + "cpu.cfs_period_us")));
    }
  }

  void memory(const std::string& file) {
    const auto bytes = memory_in(text_in(root_ + file));
    if (!bytes || (limits_.memory_bytes && *limits_.memory_bytes <= *bytes)) return;
    limits_.memory_bytes = bytes;
    limits_.memory_file = file;
  }
  void cpus(const std::string& file, std::optional<double> share) {
    if (!share || (limits_.cpus && *limits_.cpus <= *share)) return;
    limits_.cpus = share;
    limits_.cpu_file = file;
  }

  const std::string root_;
  Limits limits_;
};

}  // namespace

Limits read_limits(const std::string& root) {
  Tightest tightest(root);
  for (const Group& group :
       groups_of(text_in(root + "/proc/self/cgroup"), text_in(root + "/proc/self/mountinfo")))
    tightest.look_into(group);
  return tightest.take();
}

std::string cpus_text(double cpus) {
  const std::string text = config::number_text(std::round(cpus * 1000) / 1000);
  return text + (text == "1" ? " CPU" : " CPUs");
}

std::string text_of(const Limits& limits) {
  std::string text;
  if (limits.memory_bytes)
    text.append("memory ")
        .append(config::size_text(*limits.memory_bytes))
        .append(" (" + limits.memory_file + ")");
  if (limits.cpus)
    text.append(text.empty() ? "" : ", ")
        .append(cpus_text(*limits.cpus))
        .append(" (" + limits.cpu_file + ")");
  return text.empty() ? "none known" : text;
}

}  // namespace reprise::server
