// The pause that one upstream host has requested (Retry-After). It applies to later requests too.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// What a new request does while its host has asked for a pause.
enum class WhilePaused : std::uint8_t { go, wait, fail };

/// The pause of one upstream host. Thread-safe; shared by all io threads.
class HostPause {
 public:
  /// Sets the end of the pause, unless the current end is later.
  void ask(Instant until);
  /// Returns the end of the pause, or nothing if no pause is active at `now`.
  std::optional<Instant> until(Instant now) const;
  /// Returns the end of the last pause, even if that pause is over; nothing if there was none.
  std::optional<Instant> end() const;

 private:
  mutable std::mutex mutex_;
  std::optional<Instant> until_;
};

}  // namespace reprise::policy
