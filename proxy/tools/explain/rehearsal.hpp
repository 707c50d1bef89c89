// Plays one course of an explained request: the proxy's own state machine on a virtual clock.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "proxy/policy/decision/exchange.hpp"

namespace reprise::tools {

/// Time of the explained request's head; all times count from it.
inline constexpr policy::Instant head_at{};

/// Draws the shortest possible waits.
class LowestDice final : public policy::Dice {
 public:
  std::uint64_t roll(std::uint64_t) override { return 0; }
};

/// Draws the longest possible waits.
class HighestDice final : public policy::Dice {
 public:
  std::uint64_t roll(std::uint64_t highest) override { return highest; }
};

/// Assumptions that hold for all attempts.
struct Assumed {
  policy::Facts facts;
  policy::Outcome outcome;
  /// The attempt to begin with. Attempts before it failed at once, each followed by its backoff.
  policy::Attempt first;
  /// How a delivered body breaks; absent if it is sent whole.
  std::optional<policy::Break> breaks;
};

/// One attempt up to its verdict.
struct RehearsedStep {
  policy::Attempt attempt;
  policy::Instant ended{};
  double budget_left = 0;  ///< as decide() saw it
  policy::Verdict verdict;
};

struct Rehearsed {
  std::vector<RehearsedStep> steps;  ///< at least one
  policy::Action end;                ///< last action: Start if the course goes on, Wait before a Resume
  policy::Ledger ledger;

  bool goes_on() const { return std::holds_alternative<policy::Start>(end); }
  bool resumes() const { return std::holds_alternative<policy::Wait>(end); }
};

/// Follows the course for at most `most` steps, or until a broken body would be resumed. `budget`: null for
/// none. Precondition: no other request uses it.
Rehearsed rehearse(const policy::RoutePolicy&, const Assumed&, policy::Dice&, policy::Budget*,
                   std::size_t most);

/// Returns `hedged` if a copy of the first attempt would start when there is no response by then, else the
/// closed gate. Returns nothing if the route sends no copies. An observed p95 is assumed to be zero.
std::optional<policy::Reason> rehearse_hedge(const policy::RoutePolicy&, const Assumed&);

/// Returns true for a failure that means "no response". The route decides which timer ends the attempt, and
/// when.
bool is_timeout(const policy::Outcome&);

}  // namespace reprise::tools
