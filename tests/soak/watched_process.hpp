// What /proc says of another process: memory, descriptors, threads, sampled once a second.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace reprise::soak {

struct ProcessSample {
  std::int64_t resident_bytes = 0;
  std::int64_t descriptors = 0;  ///< without pipes: some rest for the next long download
  std::int64_t pipes = 0;
  std::int64_t threads = 0;
};

/// Reads /proc; throws std::runtime_error if the process is gone.
ProcessSample look_at(pid_t process);

/// The growth of memory over the samples of a run, warm-up left out: the median of the last quarter less that
/// of the second quarter, bytes. 0 for a handful of samples.
std::int64_t growth(const std::vector<ProcessSample>& samples);

}  // namespace reprise::soak
