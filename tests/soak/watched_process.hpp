// Samples memory, descriptors and threads of another process from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace reprise::soak {

struct ProcessSample {
  std::int64_t resident_bytes = 0;
  /// Number of open descriptors except pipes, because threads keep pipes for later downloads.
  std::int64_t descriptors = 0;
  std::int64_t pipes = 0;
  std::int64_t threads = 0;
};

/// Reads /proc. Throws std::runtime_error if the process has ended.
ProcessSample look_at(pid_t process);

/// Returns the growth of memory without the warm-up, in bytes: the median of the last quarter minus the
/// median of the second quarter. Returns 0 for fewer than eight samples.
std::int64_t growth(const std::vector<ProcessSample>& samples);

}  // namespace reprise::soak
