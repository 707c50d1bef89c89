// Adapts a configuration to the control group's limits: lowers a default that exceeds them, and warns about
// configured values that exceed them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/server/cgroup/cgroup_limits.hpp"

namespace reprise::server {

/// Returns the default for held request bodies: a quarter of the memory, in whole MiB, at least 1 MiB.
std::size_t replay_share(std::uint64_t memory_bytes);

/// A message about a configuration key.
struct Remark {
  std::string path;
  std::string message;
};

struct Fitted {
  std::size_t replay_memory_bytes = 0;  ///< resulting value of `limits.replay_memory`
  std::vector<Remark> notes;            ///< about defaults that were lowered
  std::vector<Remark> warnings;         ///< about configured values that exceed a limit but were kept
};

/// Fits the settings to the limits. `says_replay_memory`: the configuration file sets `limits.replay_memory`,
/// so that value is kept. More threads than CPUs only cause a warning.
Fitted fit(const config::Settings&, bool says_replay_memory, const Limits&);

}  // namespace reprise::server
