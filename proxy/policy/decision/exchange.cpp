#include "proxy/policy/decision/exchange.hpp"

#include "proxy/policy/decision/gates.hpp"

namespace reprise::policy {

Exchange::Exchange(const RoutePolicy& policy, const Facts& facts, HostShare host, Instant head_at,
                   ObservedLatency* latency)
    : policy_(policy), facts_(facts), host_(host), latency_(latency) {
  if (policy.retry.deadline) deadline_ = head_at + *policy.retry.deadline;
}

void Exchange::take_up(const LedgerEntry& earlier) {
  assert(state_ == State::idle && earlier.verdict.retry);
  ++number_;
  assert(earlier.attempt.number == number_);
  AttemptReport report;
  report.sent = earlier.attempt.sent;
  // What is given back pays for no free retry: that one went on at once.
  static_cast<void>(account_for(report, earlier.outcome, earlier.ended));
  ledger_.add(earlier);
  wait_ = earlier.verdict.delay;
  const bool free = earlier.verdict.reason == Reason::stale_connection;
  stale_retry_used_ = stale_retry_used_ || free;
  if (free) return;
  ++charged_;
  static_cast<void>(pay_for_retry(earlier.ended));  // it was made, whatever the budget has
}

Actions Exchange::begin(Instant now, Dice& dice) {
  if (state_ != State::idle) return {};
  if (host_.pause != nullptr && policy_.while_paused == WhilePaused::wait) {
    const auto widest = static_cast<std::uint64_t>(policy_.retry.backoff.initial.count());
    spread_ = Duration(static_cast<Duration::rep>(dice.roll(widest)));
  }
  return approach(now);
}

// Before any attempt starts, its host is asked.
Actions Exchange::approach(Instant now) {
  if (host_.pause != nullptr && policy_.while_paused != WhilePaused::go) {
    const auto back = wait_for_host(now);
    const bool fits = !back || is_in_time(deadline_, *back);
    if (is_paused(now) && (policy_.while_paused == WhilePaused::fail || !fits))
      return stop_waiting(Reason::host_paused, now);
    if (back && fits && now < *back) {
      state_ = State::waiting;
      due_ = back;
      return Action(Wait{*back});
    }
  }
  if (host_.circuit != nullptr && !host_.circuit->admit(now)) return stop_waiting(Reason::circuit_open, now);
  admitted_ = now;
  return is_out() ? resume_next(now) : start_next(now);
}

Actions Exchange::start_next(Instant now) {
  // A response that is still being read has its connection taken away now, and not before.
  if (!response_whole_) response_.reset();
  state_ = State::attempting;
  ++number_;
  ++charged_;
  started_ = now;
  const bool may_have_copy = number_ == 1 && facts_.copyable;
  hedge_at_ = may_have_copy ? policy::hedge_due(policy_, latency_, now) : std::nullopt;
  return Action(Start{number_, false});
}

Actions Exchange::answered(const AttemptReport& report, const Answered& response, Instant now, Dice& dice) {
  if (resumes(report)) return resume_refused(report, response, now, dice);
  if (!runs(report)) return {};
  response_ = number_of(report);
  ledger_.hold(*response_);
  response_whole_ = false;
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
  const bool given_back = account_for(report, outcome, now);
  if (hedge_ && hedge_->both_run() && !ends_race(outcome, policy_))
    return one_copy_failed(report, outcome, now);
  Attempt attempt = attempt_now(report);
  attempt.other_copy = asked_by_other_copy(now);
  const Verdict verdict =
      overrule(decide(facts_, attempt, outcome, policy_, now, deadline_, dice, budget_left(now)), now);
  const unsigned number = number_of(report);
  tell_host(outcome, verdict, admission_of(number), now);
  const std::optional<unsigned> slower = end_race(report, outcome, verdict, now);
  if (was_drawn(verdict)) ledger_.back().bounds = wait_bounds(attempt, outcome, policy_);
  assert(!slower || !verdict.retry);
  if (!verdict.retry) {
    // What came of it is the client's, as it would have been without `hold`.
    if (is_broken_response(outcome)) response_ = number;  // the last entry, which the ledger has
    return slower ? Actions(Cancel{*slower}, stop(verdict.reason)[0]) : stop(verdict.reason);
  }
  return verdict.reason == Reason::stale_connection ? go_on_at_once(now, given_back) : go_on(verdict, now);
}

// The client's end, or ours: no attempt starts any more.
std::optional<Reason> Exchange::stopped_from_outside() const {
  if (client_finished_) return Reason::client_gone;
  if (shutting_down_) return Reason::shutting_down;
  return std::nullopt;
}

// What may still turn a yes into a no, and what a yes costs.
Verdict Exchange::overrule(Verdict verdict, Instant now) {
  if (verdict.reason == Reason::observe_only) {
    // What a retry would have cost; without a rest it costs nothing more.
    if (host_.budget != nullptr) static_cast<void>(host_.budget->withdraw(now));
    return verdict;
  }
  if (!verdict.retry) return verdict;
  if (const auto reason = stopped_from_outside()) return {false, verdict.delay, *reason};
  const bool paid = verdict.reason == Reason::stale_connection || pay_for_retry(now);
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
  entry.budget_left = static_cast<float>(budget_seen_);
  ledger_.add(entry);
}

Actions Exchange::go_on(const Verdict& verdict, Instant now) {
  state_ = State::waiting;
  wait_ = verdict.delay;
  due_ = now + verdict.delay;
  return Action(Wait{*due_});
}

// A free retry stands in for the attempt that was stale: whatever that was paid with pays for it.
Actions Exchange::go_on_at_once(Instant now, bool given_back) {
  withdrawn_.reset();
  if (given_back) static_cast<void>(pay_for_retry(now));
  stale_retry_used_ = true;
  wait_ = Duration::zero();
  if (!response_whole_) response_.reset();
  started_ = now;
  hedge_at_.reset();
  ++number_;
  return Action(Start{number_, true});
}

Actions Exchange::waited(Instant now) {
  if (state_ != State::waiting) return {};
  if (!is_in_time(deadline_, now)) return stop_waiting(Reason::deadline_too_near, now);
  // Attempt 1 goes out whatever its signature says: that is for the upstream to judge.
  const bool signature_is_over = number_ > 0 && !is_signed_at(facts_, now);
  if (signature_is_over) return stop_waiting(Reason::signature_expired, now);
  return approach(now);
}

void Exchange::response_kept() {
  if (state_ == State::waiting && response_) response_whole_ = true;
}

void Exchange::response_dropped() {
  if (state_ == State::waiting && !response_whole_) response_.reset();
}

Actions Exchange::stop(Reason reason) {
  if (is_out()) return cut(reason);
  ledger_.reason = reason;
  const bool out_of_time =
      reason == Reason::deadline_too_near && policy_.retry.out_of_time == OutOfTime::gateway_timeout;
  ledger_.ambiguous = reason == Reason::ambiguous_outcome;
  if (response_ && !out_of_time && !ledger_.ambiguous) return deliver(*response_);
  state_ = State::over;
  // A response at hand that is not delivered because of the deadline becomes a 504.
  return Action(Fail{response_ && out_of_time, closes_like_upstream(facts_, ledger_, policy_)});
}

Actions Exchange::deliver(unsigned number) {
  state_ = State::delivering;
  body_of_ = number;
  ledger_.ambiguous = is_ambiguous(number);
  return Action(Deliver{number});
}

// "Somebody else won" may have been ourselves. Without an effect to repeat there is nothing ambiguous.
bool Exchange::is_ambiguous(unsigned number) const {
  const LedgerEntry& given = ledger_[number - 1];
  const auto* response = std::get_if<Answered>(&given.outcome);
  if (response == nullptr || !may_be_about_our_repeat(facts_, response->status)) return false;
  // What is forgotten came after the copy.
  const unsigned sent_first = ledger_.forgotten() == nullptr ? 0 : ledger_.forgotten()->first_sent;
  if (sent_first != 0 && sent_first < number) return true;
  for (std::size_t i = 0; i < ledger_.size(); i = ledger_.next(i)) {
    const LedgerEntry& other = ledger_[i];
    // A copy that was started later may have been there first.
    const bool before = i + 1 < number || other.started < given.ended;
    if (i + 1 != number && before && other.attempt.sent == Sent::maybe) return true;
  }
  return false;
}

// The scheduled attempt never starts: the budget gets it back, and the ledger says why.
Actions Exchange::stop_waiting(Reason reason, Instant now) {
  end_wait(reason, now);
  return stop(reason);
}

void Exchange::end_wait(Reason reason, Instant now) {
  if (withdrawn_) host_.budget->refund(*withdrawn_, now);
  withdrawn_.reset();
  if (ledger_.empty()) return;
  Verdict& verdict = ledger_.back().verdict;
  verdict.retry = false;
  verdict.reason = reason;
}

void Exchange::delivered() {
  assert(state_ == State::delivering);
  state_ = State::over;
}

// Attempt 1 always starts: a wait before it goes on.
Actions Exchange::client_finished(Instant now) {
  client_finished_ = true;
  return state_ == State::waiting && number_ > 0 ? stop_waiting(Reason::client_gone, now) : Actions{};
}

Actions Exchange::shutdown(Instant now) {
  shutting_down_ = true;
  return state_ == State::waiting ? stop_waiting(Reason::shutting_down, now) : Actions{};
}

Actions Exchange::client_reset(Instant now) {
  const State before = state_;
  state_ = State::over;
  if (before == State::over) return {};
  ledger_.reason = Reason::client_gone;
  if (before == State::waiting) {
    end_wait(Reason::client_gone, now);
    return Action(Leave{});
  }
  if (before == State::idle) return Action(Leave{});
  if (before == State::attempting || before == State::resuming) return abandon_attempts(now);
  return {Cancel{*body_of_}, Leave{}};
}

}  // namespace reprise::policy
