// For how long an upstream keeps idle connections, as far as it has shown by ending some (row L5).
#pragma once

#include <optional>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// One per upstream and thread. A connection that ended after some rest gives a limit of half of that, and
/// the shortest counts. It is no life sentence, since a restart ends connections of any age: for every
/// `growth` in which none is seen to end the limit is doubled, and beyond `most` it is forgotten.
class IdleLife {
 public:
  static constexpr Duration growth = std::chrono::seconds(30);
  static constexpr Duration most = std::chrono::hours(1);

  /// The upstream has ended a connection that had rested for so long, or a little less.
  void ended_after(Duration rest, Instant now);
  /// True once one has ended; what costs a look at the clock can be left out before.
  bool known() const { return limit_ > Duration::zero(); }
  /// How long a connection may have rested to be lent; nothing where nothing is known.
  std::optional<Duration> limit(Instant now);

 private:
  Duration limit_{};  ///< zero: not known
  Instant since_{};   ///< when it was learned or doubled last
};

}  // namespace reprise::policy
