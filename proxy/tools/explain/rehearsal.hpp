// One course of an explained request: the proxy's own state machine on a clock that nobody waits for.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "proxy/policy/decision/exchange.hpp"

namespace reprise::tools {

/// The head of the explained request; every time is told from here.
inline constexpr policy::Instant head_at{};

/// All waits are as short as they can be.
class LowestDice final : public policy::Dice {
 public:
  std::uint64_t roll(std::uint64_t) override { return 0; }
};

/// All waits are as long as they can be.
class HighestDice final : public policy::Dice {
 public:
  std::uint64_t roll(std::uint64_t highest) override { return highest; }
};

/// What stays the same through all attempts.
struct Assumed {
  policy::Facts facts;
  policy::Outcome outcome;
  /// The attempt to begin with. Those before it failed at once, each followed by its backoff.
  policy::Attempt first;
  /// How a delivered body breaks; absent: it goes out whole.
  std::optional<policy::Break> breaks;
};

/// One attempt, to the verdict on it.
struct RehearsedStep {
  policy::Attempt attempt;
  policy::Instant ended{};
  double budget_left = 0;  ///< as decide() saw it
  policy::Verdict verdict;
};

struct Rehearsed {
  std::vector<RehearsedStep> steps;  ///< at least one
  policy::Action end;  ///< what the last step asked for: a Start where it goes on, a Wait before a Resume
  policy::Ledger ledger;

  bool goes_on() const { return std::holds_alternative<policy::Start>(end); }
  bool resumes() const { return std::holds_alternative<policy::Wait>(end); }
};

/// Follows the course for `most` steps at most, or until a broken body would be continued. `budget` is null
/// for none, and nobody else's.
Rehearsed rehearse(const policy::RoutePolicy&, const Assumed&, policy::Dice&, policy::Budget*,
                   std::size_t most);

/// `hedged` if a copy of the first attempt would start, else the gate that is closed, if there is no response
/// by then; nothing where the route sends none. An observed p95 is taken to be at once.
std::optional<policy::Reason> rehearse_hedge(const policy::RoutePolicy&, const Assumed&);

/// True for a failure that stands for "no response": which timer ends it, and when, is for the route to say.
bool is_timeout(const policy::Outcome&);

}  // namespace reprise::tools
