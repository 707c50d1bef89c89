// Decides which of several addresses to dial next, and when: a state machine without I/O for Happy Eyeballs
// (RFC 8305 section 5).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>
#include <variant>

#include "proxy/policy/decision/outcome.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::net {

using policy::Duration;
using policy::Instant;

/// Delay between the start of one dial and the start of the next (Connection Attempt Delay of RFC 8305
/// section 5).
inline constexpr Duration dial_stagger = std::chrono::milliseconds(250);

/// One race: dials each address at most once, in order; the first established connection wins. The caller
/// calls `next` after every event that it reports.
class HappyEyeballs {
 public:
  /// Step: dial the address with this index now.
  struct Dial {
    std::size_t which;
  };
  /// Step: wait until a dial ends, but not longer than until `until`. `Instant::max()`: no time limit.
  struct Wait {
    Instant until;
  };
  /// Final step: the race has a result, and no dial is pending.
  struct Over {};
  using Step = std::variant<Dial, Wait, Over>;

  /// `addresses`: number of addresses, at least 1.
  explicit HappyEyeballs(std::size_t addresses) : addresses_(addresses) { assert(addresses > 0); }

  /// Returns the next step. A returned Dial counts as pending.
  Step next(Instant now);
  /// Reports a failed dial. The next dial then starts at once.
  void failed(policy::Cause);
  /// Reports a successful dial. Returns true for the winner. The caller then cancels all other dials. If
  /// another dial succeeds nevertheless, the caller must close its connection.
  bool connected();
  /// Reports that the deadline is reached: starts no further dials. The first dial is always started. Pending
  /// dials may continue.
  void dial_no_more() { addresses_ = std::max<std::size_t>(begun_, 1); }
  /// Cancels the race: starts no further dials. The caller cancels the pending ones.
  void cancel() { cancelled_ = true; }

  /// Returns the cause of the last failure, or `cancelled`. Precondition: there is no winner.
  policy::Cause failure() const { return cancelled_ ? policy::Cause::cancelled : failure_; }
  /// Returns how many dials were started.
  std::size_t begun() const { return begun_; }

 private:
  std::size_t addresses_;
  std::size_t begun_ = 0;
  std::size_t under_way_ = 0;
  Instant next_turn_ = Instant::min();
  bool has_winner_ = false;
  policy::Cause failure_ = policy::Cause::unreachable;
  bool cancelled_ = false;
};

}  // namespace reprise::net
