// The transitions of an exchange that are about a second copy of the first attempt.
#include "proxy/policy/exchange.hpp"

namespace reprise::policy {
namespace {

constexpr Failed cancelled{Stage::await_head, Cause::cancelled};

}  // namespace

// Only attempt 1 gets a copy, and it was let in when it was started.
Instant Exchange::admission_of(unsigned number) const {
  return copies_ != Copies::one && number == number_ - 1 ? ledger_[number - 1].started : admitted_;
}

std::optional<Instant> Exchange::hedge_at() const {
  return state_ == State::attempting && copies_ == Copies::one ? hedge_at_ : std::nullopt;
}

bool Exchange::runs(const AttemptReport& report) const {
  if (state_ != State::attempting) return false;
  if (copies_ != Copies::both) return number_of(report) == number_ - (copies_ == Copies::first_only ? 1 : 0);
  return report.number == number_ || report.number == number_ - 1;
}

unsigned Exchange::number_of(const AttemptReport& report) const {
  if (report.number != 0) return report.number;
  return copies_ == Copies::first_only ? number_ - 1 : number_;
}

Actions Exchange::hedge_due(const AttemptReport& report, Instant now) {
  if (!hedge_at() || !runs(report)) return {};
  hedge_at_.reset();
  facts_.idempotent = report.idempotent;
  const Reason judged = admit_hedge(report, now);
  if (judged != Reason::hedged) {
    ledger_.hedge = judged == Reason::observe_only ? HedgeOutcome::observed : HedgeOutcome::refused;
    ledger_.hedge_refusal = judged;
    return {};
  }
  // What becomes of the first is written over this once it is known.
  enter(report, cancelled, {true, now - started_, Reason::hedged}, now);
  ledger_.hedge = HedgeOutcome::cancelled;
  count_first(now);
  copies_ = Copies::both;
  ++number_;
  ++charged_;
  started_ = now;
  admitted_ = now;
  return Action(Start{number_, false});
}

// The pure gates, then what is shared with others: a copy that is not sent costs nobody anything.
Reason Exchange::admit_hedge(const AttemptReport& report, Instant now) {
  if (client_finished_) return Reason::client_gone;
  if (shutting_down_) return Reason::shutting_down;
  const Reason judged = judge_hedge(facts_, attempt_now(report), policy_, now, deadline_, budget_left(now));
  if (judged != Reason::hedged && judged != Reason::observe_only) return judged;
  const bool paused = host_.pause != nullptr && host_.pause->until(now).has_value();
  if (paused && policy_.while_paused != WhilePaused::go) return Reason::host_paused;
  Budget* budget = host_.budget;
  if (budget != nullptr && !budget->withdraw(now)) return Reason::budget_spent;
  if (budget != nullptr && judged == Reason::hedged) withdrawn_ = now;
  if (host_.circuit == nullptr) return judged;
  if (host_.circuit->admit(now)) {
    // A copy that is only observed takes no probe's place.
    if (judged == Reason::observe_only) host_.circuit->forget(now);
    return judged;
  }
  if (budget != nullptr) budget->refund(now, now);
  withdrawn_.reset();
  return Reason::circuit_open;
}

// The other still runs, so that nothing is decided yet.
Actions Exchange::one_copy_failed(const AttemptReport& report, const Outcome& outcome, Instant now) {
  const bool second = number_of(report) == number_;
  // A reused connection that broke says nothing of the host, whether or not it was stale.
  const bool stale = report.reused && std::holds_alternative<Failed>(outcome);
  if (second) {
    enter(report, outcome, {false, {}, Reason::success}, now);
    ledger_.hedge = HedgeOutcome::failed;
  } else {
    enter_first(report, outcome, now);
  }
  copies_ = second ? Copies::first_only : Copies::second_only;
  if (const auto* answered = std::get_if<Answered>(&outcome)) other_copy_ = answered->hints;
  other_ended_ = now;
  tell_host(outcome, {false, {}, stale ? Reason::stale_connection : Reason::not_retryable},
            admission_of(number_of(report)), now);
  return {};
}

// A pause runs from the answer that asked for it.
Hints Exchange::asked_by_other_copy(Instant now) const {
  Hints left = other_copy_;
  const auto less = [&](std::optional<Duration> pause) {
    return pause ? std::optional(std::max(*pause - (now - other_ended_), Duration::zero())) : pause;
  };
  left.retry_after = less(left.retry_after);
  left.aws_retry_after = less(left.aws_retry_after);
  return left;
}

// Writes down how the attempt ended, or both of them; names the one that still runs and is to be cancelled.
// The verdict stands with the last one.
std::optional<unsigned> Exchange::end_race(const AttemptReport& report, const Outcome& outcome,
                                           const Verdict& verdict, Instant now) {
  const Copies before = copies_;
  copies_ = Copies::one;
  other_copy_ = {};
  if (before == Copies::one || before == Copies::second_only) {
    enter(report, outcome, verdict, now);
    if (before == Copies::second_only) {
      ledger_.hedge = ends_race(outcome, policy_) ? HedgeOutcome::won : HedgeOutcome::failed;
    }
    return std::nullopt;
  }
  if (before == Copies::first_only) {
    enter_first(report, outcome, now);
    ledger_.back().verdict = verdict;
    return std::nullopt;
  }
  const bool second = report.number == number_;
  ledger_.hedge = second ? HedgeOutcome::won : HedgeOutcome::lost;
  if (second) {
    AttemptReport first;
    first.sent = Sent::maybe;
    enter_first(first, cancelled, now);
    enter(report, outcome, verdict, now);
  } else {
    enter_first(report, outcome, now);
    enter_cancelled(verdict, now);
  }
  if (host_.circuit != nullptr) host_.circuit->forget(second ? ledger_[number_ - 2].started : admitted_);
  return second ? number_ - 1 : number_;
}

void Exchange::enter_first(const AttemptReport& report, const Outcome& outcome, Instant now) {
  LedgerEntry& entry = ledger_[number_ - 2];
  entry.attempt.reused = report.reused;
  entry.attempt.sent = report.sent;
  entry.attempt.replayable = report.replayable;
  entry.outcome = outcome;
  entry.ended = now;
}

// What a cancelled attempt has sent is not known for sure.
void Exchange::enter_cancelled(const Verdict& verdict, Instant now) {
  AttemptReport report;
  report.sent = Sent::maybe;
  enter(report, cancelled, verdict, now);
}

// A first copy that lost counts with the time that it had run: leaving the slow ones out would make the p95
// shorter with each hedge.
void Exchange::observe_latency(const Outcome& outcome, Instant now) {
  if (latency_ == nullptr || !ends_race(outcome, policy_)) return;
  const bool hedged = copies_ != Copies::one;
  if (!hedged && number_ != 1) return;
  if (copies_ == Copies::second_only) return;
  latency_->add(now - (hedged ? ledger_[number_ - 2].started : started_));
}

Actions Exchange::abandon_attempts(Instant now) {
  const Verdict gone{false, {}, Reason::client_gone};
  const Copies before = copies_;
  if (number_ == 1) count_first(now);
  if (host_.circuit != nullptr) {
    const bool first = before == Copies::both || before == Copies::first_only;
    if (first) host_.circuit->forget(admission_of(number_ - 1));
    if (before != Copies::first_only) host_.circuit->forget(admission_of(number_));
  }
  copies_ = Copies::one;
  if (before == Copies::one || before == Copies::second_only) {
    enter_cancelled(gone, now);
    return {Cancel{number_}, Leave{}};
  }
  AttemptReport first;
  first.sent = Sent::maybe;
  enter_first(first, cancelled, now);
  if (before == Copies::first_only) {
    ledger_.back().verdict = gone;
    return {Cancel{number_ - 1}, Leave{}};
  }
  enter_cancelled(gone, now);
  return {Cancel{number_ - 1}, Cancel{number_}, Leave{}};
}

}  // namespace reprise::policy
