// What the exchange does once the head is out and the body breaks: wait, ask for the rest, append it, or cut.
#include "proxy/policy/decision/exchange.hpp"

#include <utility>

namespace reprise::policy {
namespace {

// Whatever broke is tried again, but for what no repetition mends.
Reason final_reason(Cause cause) {
  if (cause == Cause::address_denied) return Reason::address_denied;
  if (cause == Cause::address_is_self) return Reason::not_retryable;
  const bool unreadable = cause == Cause::malformed_response || cause == Cause::header_too_large;
  return unreadable ? Reason::resume_mismatch : Reason::resumed;
}

}  // namespace

bool Exchange::resumes(const AttemptReport& report) const {
  return state_ == State::resuming && (report.number == 0 || report.number == number_);
}

Actions Exchange::body_broke(const Break& what, Instant now, Dice& dice) {
  if (state_ != State::delivering) return {};
  LedgerEntry& broken = ledger_[*body_of_ - 1];
  // The attempt that broke, or the copy that failed beside it: the verdict stands with the last one.
  Verdict& verdict = ledger_.back().verdict;
  // A break that was seen while the body was held has a verdict: why the attempt was not repeated.
  const bool judged = is_broken_response(broken.outcome);
  const Verdict before = verdict;
  if (what.progress || !what.stays_open) stalled_.reset();
  if (what.stays_open && !stalled_)
    stalled_ = Stalled{*body_of_, broken.outcome, broken.verdict, ledger_.reason};
  broken.outcome = Failed{Stage::body, what.cause};
  broken.ended = now;
  continuable_ = what.continuable;
  if (what.progress) in_vain_ = 0;
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
    ledger_.reason = Reason::success;  // of what comes of it, not of the attempt that broke
  }
  return actions;
}

Actions Exchange::body_went_on(const AttemptReport& report, Instant now) {
  const bool may = state_ == State::waiting || state_ == State::resuming || state_ == State::delivering;
  if (!may || !stalled_) return {};
  const Stalled body = *std::exchange(stalled_, std::nullopt);
  LedgerEntry& entry = ledger_[body.number - 1];
  entry.outcome = body.outcome;
  if (state_ == State::waiting) {
    const bool is_last = ledger_.size() == body.number;
    end_wait(body.reason, now);
    if (is_last) entry.verdict = body.verdict;
  } else if (resumes(report)) {
    const Failed given_up{Stage::await_head, Cause::cancelled};
    static_cast<void>(account_for(report, given_up, now));
    if (host_.circuit != nullptr) host_.circuit->forget(admitted_);
    enter(report, given_up, {false, {}, body.reason}, now);
  }
  ledger_.reason = body.reason;
  in_vain_ = 0;
  body_of_ = body.number;
  state_ = State::delivering;
  return Action(Continue{body.number});
}

// Decides about the last entry.
Actions Exchange::resume_again(const Hints& hints, Instant now, Dice& dice) {
  const ResumeHistory history{in_vain_, in_vain_ == 0 ? Duration::zero() : wait_};
  Verdict& verdict = ledger_.back().verdict;
  verdict = overrule(
      decide_resume(facts_, continuable_, history, hints, policy_, now, dice, budget_left(now)), now);
  if (was_drawn(verdict)) ledger_.back().bounds = wait_bounds(history, hints, policy_);
  ledger_.back().budget_left = static_cast<float>(budget_seen_);
  if (!verdict.retry) return cut(verdict.reason);
  ++in_vain_;
  return go_on(verdict, now);
}

Actions Exchange::resume_next(Instant now) {
  state_ = State::resuming;
  ++number_;
  started_ = now;
  return Action(Resume{number_});
}

Actions Exchange::continued(const AttemptReport& report, const Answered& response, Instant now) {
  if (!resumes(report)) return {};
  const Verdict verdict{false, {}, ledger_.reason};
  enter(report, response, verdict, now);
  tell_host(response, verdict, admitted_, now);
  state_ = State::delivering;
  body_of_ = number_;
  return Action(Continue{number_});
}

Actions Exchange::differed(const AttemptReport& report, const Answered& response, Instant now) {
  return resumes(report) ? give_up(report, response, Reason::resume_mismatch, now) : Actions{};
}

Actions Exchange::uncounted(const AttemptReport& report, const Answered& response, Instant now, Dice& dice) {
  if (!resumes(report)) return {};
  enter(report, response, {}, now);
  tell_host(response, {}, admitted_, now);
  return resume_again(response.hints, now, dice);
}

// A status that has no bytes to offer: the route says whether it is worth another attempt.
Actions Exchange::resume_refused(const AttemptReport& report, const Answered& response, Instant now,
                                 Dice& dice) {
  if (!policy_.retry.on.lists(response)) return give_up(report, response, Reason::resume_mismatch, now);
  return uncounted(report, response, now, dice);
}

Actions Exchange::resume_failed(const AttemptReport& report, const Failed& failure, Instant now, Dice& dice) {
  static_cast<void>(account_for(report, failure, now));  // no free retry follows that it could pay for
  const Reason reason = final_reason(failure.cause);
  if (!is_retry(reason)) return give_up(report, failure, reason, now);
  enter(report, failure, {}, now);
  tell_host(failure, {}, admitted_, now);
  return resume_again({}, now, dice);
}

Actions Exchange::give_up(const AttemptReport& report, const Outcome& outcome, Reason reason, Instant now) {
  const Verdict verdict{false, {}, reason};
  enter(report, outcome, verdict, now);
  tell_host(outcome, verdict, admitted_, now);
  return cut(reason);
}

Actions Exchange::cut(Reason reason) {
  ledger_.reason = reason;
  state_ = State::over;
  return Action(Cut{});
}

}  // namespace reprise::policy
