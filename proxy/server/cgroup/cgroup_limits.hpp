// Reads the memory and CPU limits of this process's control groups (cgroups(7)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace reprise::server {

/// Limits of the control groups. A member is absent if no such limit is known.
struct Limits {
  std::optional<std::uint64_t> memory_bytes;
  std::string memory_file;  ///< file that contains the memory limit
  std::optional<double> cpus;
  std::string cpu_file;
};

/// Returns the lowest limits of all control groups (versions 1 and 2) that contain this process, and of their
/// parents. `root` is a prefix of every path, empty except in tests. Ignores files that cannot be read;
/// throws only if memory runs out. Must not be called on an io thread, because it reads files.
Limits read_limits(const std::string& root = {});

/// Returns text such as `0.5 CPUs`, rounded to three decimals.
std::string cpus_text(double cpus);
/// Returns `memory 64MiB (/sys/fs/cgroup/memory.max), 0.5 CPUs (/sys/fs/cgroup/cpu.max)`, or `none known`.
std::string text_of(const Limits&);

}  // namespace reprise::server
