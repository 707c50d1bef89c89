#include "proxy/tools/explain/rehearsal.hpp"

#include <algorithm>
#include <cassert>

#include "proxy/policy/decision/gates.hpp"

namespace reprise::tools {
namespace {

using namespace policy;

class Rehearsal {
 public:
  Rehearsal(const RoutePolicy& policy, const Assumed& assumed, Dice& dice, HostShare host)
      : policy_(policy),
        assumed_(assumed),
        dice_(dice),
        exchange_(policy, assumed.facts, host, head_at),
        reused_(assumed.first.reused) {
    make_earlier_attempts();
    action_ = last_of(exchange_.begin(now_, dice_));
  }

  /// Simulates one attempt, and then the wait or delivery after it. Returns the attempt with its verdict.
  RehearsedStep next() {
    if (std::get<Start>(action_).fresh) reused_ = false;
    const Outcome& outcome = assumed_.outcome;
    now_ = end_of_attempt();
    const Instant ended = now_;
    const AttemptReport report{reused_, assumed_.first.sent, assumed_.first.replayable,
                               assumed_.facts.idempotent};
    const auto* responded = std::get_if<Responded>(&outcome);
    action_ =
        last_of(responded != nullptr ? exchange_.responded(report, *responded, now_, dice_)
                                     : exchange_.failed(report, std::get<Failed>(outcome), now_, dice_));
    const double left = exchange_.ledger().back().budget_left;
    if (std::holds_alternative<Wait>(action_)) sleep();
    // A wait ends with a delivery if the circuit has opened.
    if (std::holds_alternative<Deliver>(action_)) deliver();
    const LedgerEntry& entry = exchange_.ledger().back();
    return {entry.attempt, ended, left, entry.verdict};
  }

  const Action& action() const { return action_; }
  const Ledger& ledger() const { return exchange_.ledger(); }

 private:
  // Returns the only action in the list. Each event leads to exactly one action, because the rehearsal has
  // only one attempt at a time.
  static Action last_of(const Actions& actions) {
    assert(actions.size() == 1);
    return actions[0];
  }

  // Passes the attempts before `assumed_.first` to the state machine. If `assumed_.first` has a `charged`
  // below its `number`, the difference is the number of retries after stale connections, which are not
  // charged. Assumes that the first attempts met these stale connections.
  void make_earlier_attempts() {
    const Attempt& first = assumed_.first;
    Attempt earlier = first;
    earlier.wait = Duration::zero();
    for (earlier.number = 1; earlier.number < first.number; ++earlier.number) {
      const bool free = earlier.number + first.charged <= first.number;
      earlier.charged = free ? 1 : earlier.number + first.charged - first.number;
      const Duration wait = free ? Duration::zero()
                                 : draw_wait(policy_.retry.backoff, earlier.charged - 1, earlier.wait, dice_);
      const Reason reason = free ? Reason::stale_connection : Reason::retryable_failure;
      exchange_.take_up({earlier, assumed_.outcome, {true, wait, reason}, now_, now_});
      earlier.wait = wait;
      now_ += wait;
    }
  }

  Instant end_of_attempt() const {
    if (!is_timeout(assumed_.outcome)) return now_;
    const bool repeatable = is_repeatable(assumed_.facts, policy_, assumed_.first.replayable);
    const Instant end = head_limit(policy_, repeatable, now_, exchange_.deadline()).at;
    // The deadline ends an upload that makes no progress.
    return std::max(now_, end == no_end ? exchange_.deadline().value_or(now_) : end);
  }

  void sleep() {
    exchange_.response_kept();
    now_ = std::get<Wait>(action_).until;
    action_ = last_of(exchange_.waited(now_));
  }

  void deliver() {
    if (assumed_.breaks) {
      action_ = last_of(exchange_.body_broke(*assumed_.breaks, now_, dice_));
    } else {
      exchange_.delivered();
    }
  }

  const RoutePolicy& policy_;
  const Assumed& assumed_;
  Dice& dice_;
  Exchange exchange_;
  bool reused_;
  Instant now_ = head_at;
  Action action_;
};

}  // namespace

bool is_timeout(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  return failed != nullptr && failed->stage >= Stage::send && failed->stage < Stage::body &&
         (failed->cause == Cause::attempt_timeout || failed->cause == Cause::response_timeout);
}

Rehearsed rehearse(const RoutePolicy& policy, const Assumed& assumed, Dice& dice, HostShare host,
                   std::size_t most) {
  Rehearsal rehearsal(policy, assumed, dice, host);
  Rehearsed done;
  do {
    done.steps.push_back(rehearsal.next());
  } while (std::holds_alternative<Start>(rehearsal.action()) && done.steps.size() < most);
  done.end = rehearsal.action();
  done.ledger = rehearsal.ledger();
  return done;
}

std::optional<Reason> rehearse_hedge(const RoutePolicy& policy, const Assumed& assumed) {
  if (!policy.hedge || assumed.first.number > 1) return std::nullopt;
  RoutePolicy timed = policy;
  if (!timed.hedge->after) timed.hedge->after = Duration::zero();
  std::optional<Budget> budget;
  if (host_parts(policy).budget) budget.emplace(*policy.budget);
  Exchange exchange(timed, assumed.facts, budget ? &*budget : nullptr, head_at);
  LowestDice dice;
  // The result is not needed: the only possible action is the start of the first attempt.
  static_cast<void>(exchange.begin(head_at, dice));
  const auto due = exchange.hedge_at();
  if (!due) return std::nullopt;
  const AttemptReport report{assumed.first.reused, Sent::maybe, assumed.first.replayable,
                             assumed.facts.idempotent};
  const Actions actions = exchange.hedge_due(report, *due);
  return actions.size() > 0 ? Reason::hedged : exchange.ledger().hedge_refusal;
}

}  // namespace reprise::tools
