#include "proxy/policy/decision/exchange.hpp"

#include <algorithm>
#include <cassert>

#include "proxy/policy/decision/gates.hpp"

namespace reprise::policy {
namespace {

Failed outcome_of(const StoppedAttempt& attempt) { return {attempt.stage, Cause::cancelled}; }

}  // namespace

Exchange::Exchange(const RoutePolicy& policy, const Facts& facts, HostShare host, Instant head_at,
                   ObservedLatency* latency)
    : policy_(policy), facts_(facts), latency_(latency), host_(host, policy) {
  if (policy.retry.deadline) deadline_ = head_at + *policy.retry.deadline;
  if (facts.call_deadline) deadline_ = std::min(deadline_.value_or(Instant::max()), *facts.call_deadline);
}

void Exchange::take_up(const LedgerEntry& earlier) {
  assert(state_ == State::idle && earlier.verdict.retry);
  ++number_;
  assert(earlier.attempt.number == number_);
  AttemptReport report;
  report.sent = earlier.attempt.sent;
  // Ignores the result, because it affects only the retry after a stale connection, and that retry was
  // already made.
  static_cast<void>(host_.account_for(number_, number_, report, earlier.outcome, earlier.ended));
  ledger_.add(earlier);
  wait_ = earlier.verdict.delay;
  const bool free = earlier.verdict.reason == Reason::stale_connection;
  stale_retry_used_ = stale_retry_used_ || free;
  if (free) return;
  ++charged_;
  static_cast<void>(host_.pay_for_retry(earlier.ended));  // an empty budget does not prevent this retry
}

// The following functions run before an attempt.

Actions Exchange::begin(Instant now, Dice& dice) {
  if (state_ != State::idle) return {};
  host_.draw_spread(dice);
  return approach(now);
}

// Asks the host's pause and circuit whether the next attempt may start.
Actions Exchange::approach(Instant now) {
  const HostAccount::Admission admission = host_.admit(now, deadline_, due_);
  if (const auto* refused = std::get_if<HostAccount::Refused>(&admission))
    return stop_waiting(refused->reason, now);
  if (const auto* paused = std::get_if<HostAccount::Paused>(&admission)) return wait_until(paused->until);
  admitted_ = now;
  return body_ ? resume_next(now) : start_next(now);
}

Actions Exchange::start_next(Instant now) {
  // An earlier response that is still being read loses its connection when the next attempt starts.
  response_.connection_taken();
  state_ = State::attempting;
  ++number_;
  ++charged_;
  started_ = now;
  const bool may_have_copy = number_ == HedgeRace::first && facts_.copyable;
  race_.plan(may_have_copy ? policy::hedge_due(policy_, latency_, now) : std::nullopt);
  return Action(Start{number_, false});
}

Actions Exchange::start_free_retry(Instant now, bool given_back) {
  host_.pass_payment_on(given_back, now);
  response_.connection_taken();
  stale_retry_used_ = true;
  wait_ = Duration::zero();
  ++number_;
  started_ = now;
  return Action(Start{number_, true});
}

Actions Exchange::resume_next(Instant now) {
  state_ = State::resuming;
  ++number_;
  started_ = now;
  return Action(Resume{number_});
}

Actions Exchange::wait_until(Instant due) {
  state_ = State::waiting;
  due_ = due;
  return Action(Wait{due});
}

Actions Exchange::waited(Instant now) {
  if (state_ != State::waiting) return {};
  if (!is_in_time(deadline_, now)) return stop_waiting(Reason::deadline_too_near, now);
  // Attempt 1 is sent even if the request's signature has expired, because the upstream checks the signature.
  const bool signature_is_over = number_ > 0 && !is_signed_at(facts_, now);
  if (signature_is_over) return stop_waiting(Reason::signature_expired, now);
  return approach(now);
}

void Exchange::response_kept() {
  if (state_ == State::waiting) response_.kept();
}

void Exchange::response_dropped() {
  if (state_ == State::waiting) response_.connection_taken();
}

// The following functions handle the end of an attempt.

bool Exchange::runs(const AttemptReport& report) const {
  return state_ == State::attempting && race_.runs(number_of(report), number_);
}

bool Exchange::resumes(const AttemptReport& report) const {
  return state_ == State::resuming && (report.number == 0 || report.number == number_);
}

unsigned Exchange::number_of(const AttemptReport& report) const {
  return race_.number_of(report.number, number_);
}

// Returns the time at which the circuit admitted attempt `number`. A hedge copy exists only beside attempt 1,
// and attempt 1 was admitted when it started.
Instant Exchange::admission_of(unsigned number) const {
  return race_.is_on() && number == HedgeRace::first ? race_.first_started() : admitted_;
}

// Records the time from the start of attempt 1 to the first good response, even if the hedge copy received
// this response. Without these slow first attempts, each hedge would lower the p95.
void Exchange::observe_latency(const Outcome& outcome, Instant now) {
  if (latency_ == nullptr || !ends_race(outcome, policy_)) return;
  if (!race_.runs(HedgeRace::first, number_)) return;
  latency_->add(now - (race_.is_on() ? race_.first_started() : started_));
}

Actions Exchange::responded(const AttemptReport& report, const Responded& response, Instant now, Dice& dice) {
  if (resumes(report)) return resume_refused(report, response, now, dice);
  if (!runs(report)) return {};
  const unsigned number = number_of(report);
  response_.arrives(number);
  ledger_.hold(number);
  return settle(report, response, now, dice);
}

Actions Exchange::failed(const AttemptReport& report, const Failed& failure, Instant now, Dice& dice) {
  if (resumes(report)) return resume_failed(report, failure, now, dice);
  if (!runs(report)) return {};
  return settle(report, failure, now, dice);
}

Actions Exchange::settle(const AttemptReport& report, const Outcome& outcome, Instant now, Dice& dice) {
  facts_.idempotent = report.idempotent;
  observe_latency(outcome, now);
  const unsigned number = number_of(report);
  const bool given_back = host_.account_for(number, number_, report, outcome, now);
  if (race_.both_run() && !ends_race(outcome, policy_)) return one_copy_failed(report, outcome, now);
  Attempt attempt = attempt_now(report);
  if (race_.is_on()) attempt.other_copy = race_.hints_left(now);
  const Verdict verdict =
      overrule(decide(facts_, attempt, outcome, policy_, now, deadline_, dice, host_.budget_left(now)), now);
  host_.report(outcome, verdict, admission_of(number), now);
  const std::optional<unsigned> slower = enter_end(report, outcome, verdict, now);
  if (was_drawn(verdict)) ledger_.back().bounds = wait_bounds(attempt, outcome, policy_);
  assert(!slower || !verdict.retry);
  if (!verdict.retry) {
    // The client gets the broken response, as it would without `hold`.
    if (is_broken_response(outcome)) response_.arrives(number);  // the ledger never evicts its last entry
    return slower ? Actions(Cancel{*slower}, stop(verdict.reason)[0]) : stop(verdict.reason);
  }
  if (verdict.reason == Reason::stale_connection) return start_free_retry(now, given_back);
  wait_ = verdict.delay;
  return wait_until(now + wait_);
}

// Turns a retry into a refusal if the exchange is stopped or the budget is empty. Otherwise withdraws the
// retry from the budget.
Verdict Exchange::overrule(Verdict verdict, Instant now) {
  if (verdict.reason == Reason::observe_only) {
    host_.pay_for_observed(now);
    return verdict;
  }
  if (!verdict.retry) return verdict;
  if (stopped_) return {false, verdict.delay, *stopped_};
  const bool paid = verdict.reason == Reason::stale_connection || host_.pay_for_retry(now);
  return paid ? verdict : Verdict{false, verdict.delay, Reason::budget_spent};
}

Attempt Exchange::attempt_now(const AttemptReport& report) const {
  Attempt attempt{number_, charged_, report.reused, report.sent, report.replayable, stale_retry_used_, wait_};
  attempt.outcome_unknown = ledger_.lost().has_value();
  return attempt;
}

void Exchange::enter(const AttemptReport& report, const Outcome& outcome, const Verdict& verdict,
                     Instant now) {
  LedgerEntry entry{attempt_now(report), outcome, verdict, started_, now};
  entry.address = report.address;
  entry.sent_bytes = report.sent_bytes;
  entry.budget_left = static_cast<float>(host_.budget_last_seen());
  entry.http2 = report.http2;
  entry.queued = report.queued;
  ledger_.add(entry);
}

// The following functions handle the race of attempt 1 and its copy.

std::optional<Instant> Exchange::hedge_at() const { return race_.due(); }

Actions Exchange::hedge_due(const AttemptReport& report, Instant now) {
  if (!hedge_at() || !runs(report)) return {};
  race_.drop();
  facts_.idempotent = report.idempotent;
  const Reason judged = admit_copy(report, now);
  if (judged != Reason::hedged) {
    ledger_.hedge = judged == Reason::observe_only ? HedgeOutcome::observed : HedgeOutcome::refused;
    ledger_.hedge_refusal = judged;
    return {};
  }
  // This outcome of attempt 1 is provisional: it is overwritten when attempt 1 ends.
  enter(report, outcome_of({}), {true, now - started_, Reason::hedged}, now);
  ledger_.hedge = HedgeOutcome::cancelled;
  host_.count_first(now);
  race_.start(started_);
  ++number_;
  ++charged_;
  started_ = now;
  admitted_ = now;
  return Action(Start{number_, false});
}

Reason Exchange::admit_copy(const AttemptReport& report, Instant now) {
  if (stopped_) return *stopped_;
  const Reason judged =
      judge_hedge(facts_, attempt_now(report), policy_, now, deadline_, host_.budget_left(now));
  const bool goes = judged == Reason::hedged || judged == Reason::observe_only;
  return goes ? host_.admit_copy(judged, now) : judged;
}

// Records the failure of one attempt of the race without a verdict, because the other attempt still runs.
Actions Exchange::one_copy_failed(const AttemptReport& report, const Outcome& outcome, Instant now) {
  // The failure of a reused connection is not counted against the host, even if that connection was not
  // stale.
  const bool stale = report.reused && std::holds_alternative<Failed>(outcome);
  const Instant admitted = admission_of(report.number);
  enter_step(race_.end(report.number, false), report, outcome, {false, {}, Reason::success}, now);
  const auto* responded = std::get_if<Responded>(&outcome);
  race_.remember(responded == nullptr ? Hints{} : responded->hints, now);
  host_.report(outcome, {false, {}, stale ? Reason::stale_connection : Reason::not_retryable}, admitted, now);
  return {};
}

// Records the end of the attempt, or of both attempts of a race. Returns the number of the attempt that still
// runs and must be cancelled.
std::optional<unsigned> Exchange::enter_end(const AttemptReport& report, const Outcome& outcome,
                                            const Verdict& verdict, Instant now) {
  if (!race_.is_on()) {
    race_.drop();
    enter(report, outcome, verdict, now);
    return std::nullopt;
  }
  const HedgeRace::Step step = race_.end(number_of(report), ends_race(outcome, policy_));
  enter_step(step, report, outcome, verdict, now);
  if (step.first == HedgeRace::Entry::cancelled) return HedgeRace::first;
  if (step.second == HedgeRace::Entry::cancelled) return HedgeRace::second;
  return std::nullopt;
}

// Records a step of the hedge race as one or more entries of the ledger. Only the last entry gets the
// verdict.
void Exchange::enter_step(const HedgeRace::Step& step, const AttemptReport& report, const Outcome& outcome,
                          const Verdict& verdict, Instant now, const StoppedAttempt& stopped) {
  using Entry = HedgeRace::Entry;
  const auto cancelled = [&stopped](unsigned number) {
    return stopped.report.number == number ? stopped : StoppedAttempt();
  };
  ledger_.hedge = step.copy;
  if (step.first == Entry::outcome) ledger_.correct(HedgeRace::first, report, outcome, now);
  if (step.first == Entry::cancelled) {
    host_.discard(race_.first_started());
    const StoppedAttempt first = cancelled(HedgeRace::first);
    ledger_.correct(HedgeRace::first, first.report, outcome_of(first), now);
  }
  if (step.second == Entry::outcome) enter(report, outcome, verdict, now);
  if (step.second == Entry::cancelled) {
    host_.discard(admitted_);
    const StoppedAttempt second = cancelled(HedgeRace::second);
    enter(second.report, outcome_of(second), verdict, now);
  }
  if (step.second == Entry::verdict) ledger_.back().verdict = verdict;
}

// The following functions handle the time after the response head was sent to the client.

Actions Exchange::body_broke(const Break& what, Instant now, Dice& dice) {
  if (state_ != State::delivering) return {};
  // A body that broke while it was held back already has a verdict: the reason why the attempt was not
  // retried.
  const bool judged = is_broken_response(ledger_[body_->attempt() - 1].outcome);
  // The last entry of the ledger has the verdict. The entry belongs to the attempt that broke, or to the copy
  // that failed beside that attempt.
  Verdict& verdict = ledger_.back().verdict;
  const Verdict before = verdict;
  body_->broke(what, ledger_, now);
  if (what.signed_until) facts_.signed_until = what.signed_until;
  deadline_.reset();
  if (what.differs) {
    verdict = {false, {}, Reason::resume_mismatch};
    return cut(Reason::resume_mismatch);
  }
  const Actions actions = resume_again({}, now, dice);
  if (judged && verdict.reason == Reason::response_started) {
    verdict = before;
    ledger_.reason = before.reason;
  } else if (judged && verdict.retry) {
    ledger_.reason = Reason::success;  // replaces the reason of the attempt that broke: its body is resumed
  }
  return actions;
}

Actions Exchange::body_went_on(const AttemptReport& report, Instant now) {
  if (over() || !body_) return {};
  const auto body = body_->went_on(ledger_);
  if (!body) return {};
  if (state_ == State::waiting) {
    const bool is_last = ledger_.size() == body->attempt;
    end_wait(body->reason, now);
    if (is_last) ledger_.back().verdict = body->verdict;
  } else if (resumes(report)) {
    const Failed given_up{Stage::await_head, Cause::cancelled};
    static_cast<void>(host_.account_for(number_, number_, report, given_up, now));
    host_.discard(admitted_);
    enter(report, given_up, {false, {}, body->reason}, now);
  }
  ledger_.reason = body->reason;
  state_ = State::delivering;
  return Action(Continue{body->attempt});
}

// Decides whether to resume again after the failure in the last entry of the ledger.
Actions Exchange::resume_again(const Hints& hints, Instant now, Dice& dice) {
  const ResumeHistory history = body_->history(wait_);
  Verdict& verdict = ledger_.back().verdict;
  verdict = overrule(
      decide_resume(facts_, body_->continuable(), history, hints, policy_, now, dice, host_.budget_left(now)),
      now);
  if (was_drawn(verdict)) ledger_.back().bounds = wait_bounds(history, hints, policy_);
  ledger_.back().budget_left = static_cast<float>(host_.budget_last_seen());
  if (!verdict.retry) return cut(verdict.reason);
  body_->resume_scheduled();
  wait_ = verdict.delay;
  return wait_until(now + wait_);
}

Actions Exchange::continued(const AttemptReport& report, const Responded& response, Instant now) {
  if (!resumes(report)) return {};
  const Verdict verdict{false, {}, ledger_.reason};
  enter(report, response, verdict, now);
  host_.report(response, verdict, admitted_, now);
  state_ = State::delivering;
  body_->continued_by(number_);
  return Action(Continue{number_});
}

Actions Exchange::differed(const AttemptReport& report, const Responded& response, Instant now) {
  return resumes(report) ? give_up(report, response, Reason::resume_mismatch, now) : Actions{};
}

Actions Exchange::uncounted(const AttemptReport& report, const Responded& response, Instant now, Dice& dice) {
  if (!resumes(report)) return {};
  enter(report, response, {}, now);
  host_.report(response, {}, admitted_, now);
  return resume_again(response.hints, now, dice);
}

// Handles a response to a resume request whose status means that the response has no part of the download.
// Resumes again only if retry.on lists the response.
Actions Exchange::resume_refused(const AttemptReport& report, const Responded& response, Instant now,
                                 Dice& dice) {
  if (!policy_.retry.on.lists(response)) return give_up(report, response, Reason::resume_mismatch, now);
  return uncounted(report, response, now, dice);
}

Actions Exchange::resume_failed(const AttemptReport& report, const Failed& failure, Instant now, Dice& dice) {
  // Ignores the result, because it affects only the retry after a stale connection, and no such retry follows
  // a resume.
  static_cast<void>(host_.account_for(number_, number_, report, failure, now));
  const Reason reason = reason_after_failure(failure.cause);
  if (!is_retry(reason)) return give_up(report, failure, reason, now);
  enter(report, failure, {}, now);
  host_.report(failure, {}, admitted_, now);
  return resume_again({}, now, dice);
}

Actions Exchange::give_up(const AttemptReport& report, const Outcome& outcome, Reason reason, Instant now) {
  const Verdict verdict{false, {}, reason};
  enter(report, outcome, verdict, now);
  host_.report(outcome, verdict, admitted_, now);
  return cut(reason);
}

// The following functions end an exchange.

Actions Exchange::stop(Reason reason) {
  if (body_) return cut(reason);
  ledger_.reason = reason;
  const bool out_of_time =
      reason == Reason::deadline_too_near && policy_.retry.out_of_time == OutOfTime::gateway_timeout;
  ledger_.ambiguous = reason == Reason::ambiguous_outcome;
  const std::optional<unsigned> response = response_.attempt();
  if (response && !out_of_time && !ledger_.ambiguous) {
    state_ = State::delivering;
    body_.emplace(*response);
    ledger_.ambiguous = is_ambiguous(facts_, ledger_, *response);
    return Action(Deliver{*response});
  }
  state_ = State::over;
  // If the deadline prevents the delivery of a response at hand, the client gets a 504.
  return Action(Fail{response && out_of_time, closes_like_upstream(facts_, ledger_, policy_)});
}

// Cancels the scheduled attempt: refunds the budget and records the reason in the ledger.
Actions Exchange::stop_waiting(Reason reason, Instant now) {
  end_wait(reason, now);
  return stop(reason);
}

void Exchange::end_wait(Reason reason, Instant now) {
  host_.refund_retry(now);
  if (ledger_.empty()) return;
  Verdict& verdict = ledger_.back().verdict;
  verdict.retry = false;
  verdict.reason = reason;
}

Actions Exchange::cut(Reason reason) {
  ledger_.reason = reason;
  state_ = State::over;
  return Action(Cut{});
}

void Exchange::delivered() {
  assert(state_ == State::delivering);
  state_ = State::over;
}

// Ends a wait before a retry. A wait before attempt 1 continues, because attempt 1 is always sent.
Actions Exchange::client_finished(Instant now) {
  stopped_ = Reason::client_gone;
  return state_ == State::waiting && number_ > 0 ? stop_waiting(Reason::client_gone, now) : Actions{};
}

Actions Exchange::shutdown(Instant now) {
  if (!stopped_) stopped_ = Reason::shutting_down;
  return state_ == State::waiting ? stop_waiting(Reason::shutting_down, now) : Actions{};
}

Actions Exchange::client_reset(Instant now, const StoppedAttempt& stopped) {
  return leave(Reason::client_gone, now, stopped);
}

Actions Exchange::rejected(Instant now, const StoppedAttempt& stopped) {
  return leave(Reason::not_retryable, now, stopped);
}

Actions Exchange::leave(Reason reason, Instant now, const StoppedAttempt& stopped) {
  const State before = state_;
  state_ = State::over;
  if (before == State::over) return {};
  ledger_.reason = reason;
  if (before == State::waiting) {
    end_wait(reason, now);
    return Action(Leave{});
  }
  if (before == State::idle) return Action(Leave{});
  if (before == State::attempting || before == State::resuming) return abandon_attempts(reason, now, stopped);
  return {Cancel{body_->attempt()}, Leave{}};
}

Actions Exchange::abandon_attempts(Reason reason, Instant now, const StoppedAttempt& stopped) {
  using Entry = HedgeRace::Entry;
  const Verdict gone{false, {}, reason};
  if (number_ == 1) host_.count_first(now);
  if (!race_.is_on()) {
    race_.drop();
    host_.discard(admitted_);
    enter(stopped.report, outcome_of(stopped), gone, now);
    return {Cancel{number_}, Leave{}};
  }
  const HedgeRace::Step step = race_.abandon();
  enter_step(step, stopped.report, outcome_of(stopped), gone, now, stopped);
  if (step.first == Entry::cancelled && step.second == Entry::cancelled)
    return {Cancel{HedgeRace::first}, Cancel{HedgeRace::second}, Leave{}};
  return {Cancel{step.first == Entry::cancelled ? HedgeRace::first : HedgeRace::second}, Leave{}};
}

}  // namespace reprise::policy
