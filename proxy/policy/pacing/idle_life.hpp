// Estimates how long an upstream keeps idle connections open (row L5).
#pragma once

#include <optional>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// One object per upstream and thread. If the upstream closes an idle connection, the limit becomes half of
/// the time that the connection was idle; the lowest limit wins. A restart of the upstream closes connections
/// of any age, so the limit is not kept for ever: it doubles after each `growth` without another such close,
/// and is discarded above `most`.
class IdleLife {
 public:
  static constexpr Duration growth = std::chrono::seconds(30);
  static constexpr Duration most = std::chrono::hours(1);

  /// Records that the upstream has closed a connection that was idle for at most `idle_time`.
  void ended_after(Duration idle_time, Instant now);
  /// Returns true if a limit is known. Otherwise the caller need not read the clock.
  bool known() const { return limit_ > Duration::zero(); }
  /// Returns how long a connection may have been idle and still be reused; nothing if no limit is known.
  std::optional<Duration> limit(Instant now);

 private:
  Duration limit_{};  ///< zero if unknown
  Instant since_{};   ///< when the limit was last set or doubled
};

}  // namespace reprise::policy
