// Adapts a configuration to the control group's limits: lowers defaults that exceed them, and warns about
// configured values that exceed them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/server/cgroup/cgroup_limits.hpp"

namespace reprise::server {

/// Returns the share of the memory that one memory limit of the configuration may take: a quarter, in whole
/// MiB, at least 1 MiB.
std::size_t memory_share(std::uint64_t memory_bytes);

/// The memory limits that the configuration file sets. Their values are kept.
struct SetInFile {
  bool replay_memory = false;
  bool stream_memory = false;
};

/// A message about a configuration key.
struct Remark {
  std::string path;
  std::string message;
};

struct Fitted {
  std::size_t replay_memory_bytes = 0;  ///< resulting value of `limits.replay_memory`
  std::size_t stream_memory_bytes = 0;  ///< resulting value of `limits.stream_memory`
  std::vector<Remark> notes;            ///< about defaults that were lowered
  std::vector<Remark> warnings;         ///< about configured values that exceed a limit but were kept
};

/// Fits the settings to the limits. More threads than CPUs only cause a warning.
Fitted fit(const config::Settings&, const SetInFile&, const Limits&);

}  // namespace reprise::server
