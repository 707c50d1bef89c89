// The transitions of an exchange that are about a second copy of the first attempt.
#include "proxy/policy/decision/exchange.hpp"

namespace reprise::policy {
namespace {

constexpr Failed cancelled{Stage::await_head, Cause::cancelled};

// What a cancelled attempt has sent is not known for sure.
AttemptReport report_of_cancelled() {
  AttemptReport report;
  report.sent = Sent::maybe;
  return report;
}

}  // namespace

// Only attempt 1 gets a copy, and it was let in when it was started.
Instant Exchange::admission_of(unsigned number) const {
  return hedge_ && number == hedge_->first.number ? hedge_->first.started : admitted_;
}

std::optional<Instant> Exchange::hedge_at() const {
  return state_ == State::attempting && !hedge_ ? hedge_at_ : std::nullopt;
}

bool Exchange::runs(const AttemptReport& report) {
  if (state_ != State::attempting) return false;
  if (!hedge_) return number_of(report) == number_;
  const Copy* copy = hedge_->find(number_of(report));
  return copy != nullptr && copy->runs;
}

// Where both copies run the report has to say which it means.
unsigned Exchange::number_of(const AttemptReport& report) const {
  if (report.number != 0 || (hedge_ && hedge_->both_run())) return report.number;
  return hedge_ && hedge_->first.runs ? hedge_->first.number : number_;
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
  hedge_ = Hedge{{number_, started_}, {number_ + 1, now}};
  ++number_;
  ++charged_;
  started_ = now;
  admitted_ = now;
  return Action(Start{number_, false});
}

// The pure gates, then what is shared with others: a copy that is not sent costs nobody anything.
Reason Exchange::admit_hedge(const AttemptReport& report, Instant now) {
  if (const auto reason = stopped_from_outside()) return *reason;
  const Reason judged = judge_hedge(facts_, attempt_now(report), policy_, now, deadline_, budget_left(now));
  if (judged != Reason::hedged && judged != Reason::observe_only) return judged;
  if (is_paused(now)) return Reason::host_paused;
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
  Copy* const found = hedge_->find(report.number);
  assert(found != nullptr && found->runs);
  Copy& ended = *found;
  const bool second = &ended == &hedge_->second;
  // A reused connection that broke says nothing of the host, whether or not it was stale.
  const bool stale = report.reused && std::holds_alternative<Failed>(outcome);
  if (second) {
    enter(report, outcome, {false, {}, Reason::success}, now);
    ledger_.hedge = HedgeOutcome::failed;
  } else {
    enter_copy(ended, report, outcome, now);
  }
  ended.runs = false;
  if (const auto* answered = std::get_if<Answered>(&outcome)) hedge_->asked = answered->hints;
  hedge_->asked_at = now;
  tell_host(outcome, {false, {}, stale ? Reason::stale_connection : Reason::not_retryable},
            admission_of(ended.number), now);
  return {};
}

// A pause runs from the response that asked for it.
Hints Exchange::asked_by_other_copy(Instant now) const {
  if (!hedge_) return {};
  Hints left = hedge_->asked;
  const auto less = [&](std::optional<Duration> pause) {
    return pause ? std::optional(std::max(*pause - (now - hedge_->asked_at), Duration::zero())) : pause;
  };
  left.retry_after = less(left.retry_after);
  left.aws_retry_after = less(left.aws_retry_after);
  return left;
}

// Writes down how the attempt ended, or both of them; names the one that still runs and is to be cancelled.
// The verdict stands with the last one.
std::optional<unsigned> Exchange::end_race(const AttemptReport& report, const Outcome& outcome,
                                           const Verdict& verdict, Instant now) {
  if (!hedge_) {
    enter(report, outcome, verdict, now);
    return std::nullopt;
  }
  const Hedge hedge = *hedge_;
  hedge_.reset();
  if (!hedge.first.runs) {
    enter(report, outcome, verdict, now);
    ledger_.hedge = ends_race(outcome, policy_) ? HedgeOutcome::won : HedgeOutcome::failed;
    return std::nullopt;
  }
  if (!hedge.second.runs) {
    enter_copy(hedge.first, report, outcome, now);
    ledger_.back().verdict = verdict;
    return std::nullopt;
  }
  const bool second = report.number == hedge.second.number;
  const Copy& slower = second ? hedge.first : hedge.second;
  ledger_.hedge = second ? HedgeOutcome::won : HedgeOutcome::lost;
  if (second) {
    enter_copy(hedge.first, report_of_cancelled(), cancelled, now);
    enter(report, outcome, verdict, now);
  } else {
    enter_copy(hedge.first, report, outcome, now);
    enter_cancelled(verdict, now);
  }
  if (host_.circuit != nullptr) host_.circuit->forget(slower.started);
  return slower.number;
}

// What was written down of the copy when the other one was started gives way to how it ended.
void Exchange::enter_copy(const Copy& copy, const AttemptReport& report, const Outcome& outcome,
                          Instant now) {
  LedgerEntry& entry = ledger_[copy.number - 1];
  entry.attempt.reused = report.reused;
  entry.attempt.sent = report.sent;
  entry.attempt.replayable = report.replayable;
  entry.outcome = outcome;
  entry.ended = now;
  entry.address = report.address;
  entry.sent_bytes = report.sent_bytes;
  ledger_.note_outcome(entry);
}

void Exchange::enter_cancelled(const Verdict& verdict, Instant now) {
  enter(report_of_cancelled(), cancelled, verdict, now);
}

// A first copy that lost counts with the time that it had run: leaving the slow ones out would make the p95
// shorter with each hedge.
void Exchange::observe_latency(const Outcome& outcome, Instant now) {
  if (latency_ == nullptr || !ends_race(outcome, policy_)) return;
  if (hedge_ ? !hedge_->first.runs : number_ != 1) return;
  latency_->add(now - (hedge_ ? hedge_->first.started : started_));
}

Actions Exchange::abandon_attempts(Instant now) {
  const Verdict gone{false, {}, Reason::client_gone};
  if (number_ == 1) count_first(now);
  if (!hedge_) {
    if (host_.circuit != nullptr) host_.circuit->forget(admitted_);
    enter_cancelled(gone, now);
    return {Cancel{number_}, Leave{}};
  }
  const Hedge hedge = *hedge_;
  hedge_.reset();
  if (hedge.first.runs) {
    if (host_.circuit != nullptr) host_.circuit->forget(hedge.first.started);
    enter_copy(hedge.first, report_of_cancelled(), cancelled, now);
  }
  if (hedge.second.runs) {
    if (host_.circuit != nullptr) host_.circuit->forget(hedge.second.started);
    enter_cancelled(gone, now);
  } else {
    ledger_.back().verdict = gone;
  }
  if (hedge.both_run()) return {Cancel{hedge.first.number}, Cancel{hedge.second.number}, Leave{}};
  return {Cancel{hedge.first.runs ? hedge.first.number : hedge.second.number}, Leave{}};
}

}  // namespace reprise::policy
