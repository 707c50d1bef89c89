// What the control groups of this process allow it: memory and processor time (cgroups(7)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace reprise::server {

/// Absent: none is known.
struct Limits {
  std::optional<std::uint64_t> memory_bytes;
  std::string memory_file;  ///< where it stands
  std::optional<double> cpus;
  std::string cpu_file;
};

/// The tightest of every group that this process is in and of those above it, in version 2 and version 1.
/// `root` stands before every path: empty but for tests. What cannot be read is passed over; never throws but
/// for want of memory. Reads files: not on an io thread.
Limits read_limits(const std::string& root = {});

/// `0.5 CPUs`, to three places.
std::string cpus_text(double cpus);
/// `memory 64MiB (/sys/fs/cgroup/memory.max), 0.5 CPUs (/sys/fs/cgroup/cpu.max)`; or `none known`.
std::string text_of(const Limits&);

}  // namespace reprise::server
