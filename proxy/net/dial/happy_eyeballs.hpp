// Which of several addresses to dial next, and when: Happy
// Eyeballs (RFC 8305 section 5), as a pure state machine.
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

/// How long a dial is alone before the next one is begun
/// beside it (RFC 8305 section 5, Connection Attempt Delay).
inline constexpr Duration dial_stagger = std::chrono::milliseconds(250);

/// One race: addresses in order, each dialled once at most, the first connection that stands wins. Whoever
/// drives it asks `next` after everything that he told it.
class HappyEyeballs {
 public:
  /// Dial that address now.
  struct Dial {
    std::size_t which;
  };
  /// Nothing to do before a dial under way ends, or before `until`; `Instant::max()`: before a dial ends.
  struct Wait {
    Instant until;
  };
  /// There is a winner or a failure, and nothing is under way any more.
  struct Over {};
  using Step = std::variant<Dial, Wait, Over>;

  /// `addresses`: how many; at least 1.
  explicit HappyEyeballs(std::size_t addresses) : addresses_(addresses) { assert(addresses > 0); }

  /// A dial that it tells of counts as under way.
  Step next(Instant now);
  /// One that was under way has failed: the next need not wait for its turn.
  void failed(policy::Cause);
  /// One that was under way stands. True for the winner: all others are to be cancelled, and closed if they
  /// come to stand nevertheless.
  bool stood();
  /// The time of all of them is over: none is dialled beside those that were, but for the first. What is
  /// under way may go on.
  void dial_no_more() { addresses_ = std::max<std::size_t>(begun_, 1); }
  /// Nothing more is dialled; what is under way is to be cancelled.
  void cancel() { cancelled_ = true; }

  /// Where there is no winner: what the last one came to, or `cancelled`.
  policy::Cause failure() const { return cancelled_ ? policy::Cause::cancelled : failure_; }
  /// Dials that were begun.
  std::size_t begun() const { return begun_; }

 private:
  std::size_t addresses_;
  std::size_t begun_ = 0;
  std::size_t under_way_ = 0;
  Instant next_turn_ = Instant::min();
  bool one_stands_ = false;
  policy::Cause failure_ = policy::Cause::unreachable;
  bool cancelled_ = false;
};

}  // namespace reprise::net
