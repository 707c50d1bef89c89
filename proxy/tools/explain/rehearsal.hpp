// Simulates one course of an explained request with the proxy's own state machine and a virtual clock.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "proxy/policy/decision/exchange.hpp"

namespace reprise::tools {

/// Time at which the head of the explained request arrives. All other times count from this time.
inline constexpr policy::Instant head_at{};

/// Always rolls 0, so that every wait is the shortest possible.
class LowestDice final : public policy::Dice {
 public:
  std::uint64_t roll(std::uint64_t) override { return 0; }
};

/// Always rolls the highest number, so that every wait is the longest possible.
class HighestDice final : public policy::Dice {
 public:
  std::uint64_t roll(std::uint64_t highest) override { return highest; }
};

/// Assumptions that hold for all attempts.
struct Assumed {
  policy::Facts facts;
  policy::Outcome outcome;
  /// The first attempt to simulate. Earlier attempts are assumed to have failed at once, each followed by its
  /// backoff.
  policy::Attempt first;
  /// How the response body breaks during its delivery; absent if the whole body is delivered.
  std::optional<policy::Break> breaks;
};

/// One attempt up to its verdict.
struct RehearsedStep {
  policy::Attempt attempt;
  policy::Instant ended{};
  double budget_left = 0;  ///< retries left in the budget, as passed to decide()
  policy::Verdict verdict;
};

struct Rehearsed {
  std::vector<RehearsedStep> steps;  ///< at least one
  policy::Action end;  ///< last action: Start if more steps would follow, Wait if the body would be resumed
  policy::Ledger ledger;

  bool goes_on() const { return std::holds_alternative<policy::Start>(end); }
  bool resumes() const { return std::holds_alternative<policy::Wait>(end); }
};

/// Simulates the request for at most `most` steps. Ends earlier if the request ends or a broken body would be
/// resumed. Precondition: no other request uses the budget and the circuit of `host`.
Rehearsed rehearse(const policy::RoutePolicy&, const Assumed&, policy::Dice&, policy::HostShare host,
                   std::size_t most);

/// Returns `hedged` if a hedge would start when attempt 1 is slow, otherwise the reason why no hedge would
/// start. Returns nothing if the route does not hedge. If the hedge delay is the observed p95, assumes a p95
/// of zero.
std::optional<policy::Reason> rehearse_hedge(const policy::RoutePolicy&, const Assumed&);

/// Returns true for a failure that means "no response in time". For such a failure, the route's settings
/// decide which timer ends the attempt, and when.
bool is_timeout(const policy::Outcome&);

}  // namespace reprise::tools
