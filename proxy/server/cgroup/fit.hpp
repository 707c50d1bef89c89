// What the limits of a control group make of a configuration: a default that they cannot bear is lowered, and
// what a file asks for beyond them is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/server/cgroup/cgroup_limits.hpp"

namespace reprise::server {

/// How much of the memory held request bodies may take where the file does not say: a quarter, in whole MiB,
/// 1 MiB at least.
std::size_t replay_share(std::uint64_t memory_bytes);

/// Something to say of a key.
struct Remark {
  std::string path;
  std::string message;
};

struct Fitted {
  std::size_t replay_memory_bytes = 0;  ///< what `limits.replay_memory` is
  std::vector<Remark> notes;            ///< what was lowered
  std::vector<Remark> warnings;         ///< what was left as the file says it
};

/// `says_replay_memory`: the file has the key, so that its value stays. More threads than processors are
/// told, never taken away.
Fitted fit(const config::Settings&, bool says_replay_memory, const Limits&);

}  // namespace reprise::server
