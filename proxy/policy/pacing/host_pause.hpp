// A pause that one upstream host has asked for, remembered for the requests that come after.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// What a request does that comes while its host has asked for a pause.
enum class WhilePaused : std::uint8_t { go, wait, fail };

/// Thread-safe; shared by all io threads.
class HostPause {
 public:
  /// Keeps the later of what is asked now and what was asked before.
  void ask(Instant until);
  /// The end of the pause, if there is one at `now`.
  std::optional<Instant> until(Instant now) const;
  /// The end of the last pause, be it over or not.
  std::optional<Instant> end() const;

 private:
  mutable std::mutex mutex_;
  std::optional<Instant> until_;
};

}  // namespace reprise::policy
