#include "proxy/policy/decision/decide.hpp"

#include <algorithm>

#include "proxy/policy/decision/attempt_limit.hpp"
#include "proxy/policy/decision/gates.hpp"

namespace reprise::policy {
namespace {

bool is_unprocessed(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  return failed != nullptr && failed->unprocessed;
}

// Returns true if the choice of the connection caused the failure, not the upstream: a reused connection
// ended before any response byte, or its peer was dead (row L4), or the response is a 421 on a reused
// connection (RFC 9110 9.2.2 and 15.5.20), or the connection did not process the request (rows M29, M68 and
// M69).
bool is_stale(const Facts& facts, const Attempt& attempt, const Outcome& outcome, const RoutePolicy& policy) {
  if (attempt.stale_retry_used || !attempt.replayable) return false;
  if (!attempt.reused && !is_unprocessed(outcome)) return false;
  // The retry after a stale connection counts as an attempt. It is made even if only one attempt is allowed,
  // because the connection pool caused the failure.
  const auto most = policy.retry.max_attempts;
  if (most != 1U && are_attempts_spent(attempts_made(attempt), most)) return false;
  if (attempt.sent != Sent::nothing && facts.one_time) return false;
  if (const auto* responded = std::get_if<Responded>(&outcome))
    return responded->status == misdirected_request;
  const auto& failed = std::get<Failed>(outcome);
  if (failed.unprocessed) return true;
  const bool ended =
      failed.cause == Cause::closed || failed.cause == Cause::reset || failed.cause == Cause::unacknowledged;
  const bool before_response = failed.stage == Stage::send || failed.stage == Stage::await_head;
  return ended && before_response &&
         (attempt.sent == Sent::nothing || may_follow_lost_response(facts, policy));
}

bool is_success(const Outcome& outcome, const RetryOn& on) {
  const auto* responded = std::get_if<Responded>(&outcome);
  return responded != nullptr && responded->status < 400 && !is_failed_call(*responded) && !on.lists(outcome);
}

bool is_denied(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  return failed != nullptr && failed->cause == Cause::address_denied;
}

bool is_body_lost(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  return failed != nullptr && failed->cause == Cause::replay_lost;
}

// Returns true if the deadline caused the failure: a timeout at or after the deadline. The deadline limits
// name lookup, connecting, an upload that makes no progress, and the head of a repeatable attempt.
bool ran_out_of_time(const Outcome& outcome, Instant now, std::optional<Instant> deadline) {
  const auto* failed = std::get_if<Failed>(&outcome);
  if (failed == nullptr || !deadline || now < *deadline) return false;
  return failed->cause == Cause::dns_timeout || failed->cause == Cause::connect_timeout ||
         failed->cause == Cause::parent_timeout || failed->cause == Cause::attempt_timeout;
}

// Returns true if a retry does no harm. An attempt that sent bytes may have taken effect. A retry then needs
// proof that the upstream did nothing, or that a second execution has no second effect.
bool is_safe_to_repeat(const Facts& facts, const Outcome& outcome, const RoutePolicy& policy) {
  if (is_refused(facts, outcome, policy)) return true;
  const bool responded = std::holds_alternative<Responded>(outcome);
  return responded ? facts.idempotent == Idempotency::yes : may_follow_lost_response(facts, policy);
}

bool is_listed(const Outcome& outcome, const RoutePolicy& policy) {
  const auto* failed = std::get_if<Failed>(&outcome);
  // A call that the route keeps off HTTP/2 was not even tried (row M24).
  if (failed != nullptr && failed->cause == Cause::not_http2 && policy.http2 == UseHttp2::never) return false;
  return policy.retry.on.lists(outcome);
}

// Returns the hints of the outcome. If attempt 1 and its hedged copy both got a response, the longer of their
// two pauses applies.
Hints hints_of(const Attempt& attempt, const Outcome& outcome) {
  const auto* responded = std::get_if<Responded>(&outcome);
  if (responded == nullptr) return attempt.other_copy;
  Hints hints = responded->hints;
  hints.add(attempt.other_copy);
  return hints;
}

// Follows the rule of the AWS SDKs of 2026: the hint lengthens a wait by at most five seconds, and never
// shortens it.
Duration with_aws_hint(Duration backoff, const Hints& hints) {
  constexpr Duration most = std::chrono::seconds(5);
  return std::clamp(hints.aws_retry_after.value_or(backoff), backoff, backoff + most);
}

// A name that has never existed is probably misspelled, so its lookup is repeated after a short wait.
constexpr Duration most_wait_for_name = std::chrono::seconds(1);

bool is_no_name(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  return failed != nullptr && failed->never_existed;
}

Duration backoff_after(const Outcome& outcome, Duration backoff) {
  return is_no_name(outcome) ? std::min(backoff, most_wait_for_name) : backoff;
}

unsigned retries_before(const Attempt& attempt) { return attempt.charged - 1; }

Reason reason_to_retry(const Outcome& outcome) {
  const auto* responded = std::get_if<Responded>(&outcome);
  if (responded == nullptr) return Reason::retryable_failure;
  return responded->body_listed ? Reason::retryable_body : Reason::retryable_status;
}

// Returns why a retry is not allowed: the reason of the first closed gate (unmet condition) among those that
// are checked before the wait. If several gates are closed, only the first is reported, so the most
// informative gates come first.
std::optional<Reason> first_closed_gate(const Facts& facts, const Attempt& attempt, const Outcome& outcome,
                                        const RoutePolicy& policy) {
  if (is_success(outcome, policy.retry.on)) return Reason::success;
  if (is_denied(outcome)) return Reason::address_denied;
  if (is_body_lost(outcome)) return Reason::not_replayable;
  const bool listed = is_listed(outcome, policy) || is_refused(facts, outcome, policy);
  if (!listed) return Reason::not_retryable;
  if (policy.mode == Mode::off) return Reason::retries_off;
  if (hints_of(attempt, outcome).said_no) return Reason::upstream_said_no;
  if (refuses_nested_client(facts, policy)) return Reason::nested_retry;
  const auto* responded = std::get_if<Responded>(&outcome);
  if (responded != nullptr && refuses_retried_response(responded->hints, policy)) return Reason::nested_retry;
  if (!is_unsent(outcome, attempt.sent == Sent::nothing)) {
    if (!is_safe_to_repeat(facts, outcome, policy)) return Reason::not_idempotent;
    if (facts.one_time) return Reason::signature_expired;
  }
  if (!attempt.replayable) return Reason::not_replayable;
  if (are_attempts_spent(attempts_made(attempt), policy.retry.max_attempts)) return Reason::attempts_spent;
  if (is_no_name(outcome) && attempt.charged >= most_look_ups) return Reason::attempts_spent;
  return std::nullopt;
}

}  // namespace

bool is_repeatable(const Facts& facts, const RoutePolicy& policy, bool replayable) {
  return policy.mode == Mode::active && may_follow_lost_response(facts, policy) && !facts.one_time &&
         replayable;
}

Duration wait_for(Duration backoff, const Hints& hints) {
  return std::max(hints.retry_after.value_or(Duration::zero()), with_aws_hint(backoff, hints));
}

WaitRange wait_bounds(const Attempt& attempt, const Outcome& outcome, const RoutePolicy& policy) {
  const Hints hints = honoured(hints_of(attempt, outcome), policy);
  const WaitRange drawn = wait_range(policy.retry.backoff, retries_before(attempt), attempt.wait);
  return {wait_for(backoff_after(outcome, drawn.lowest), hints),
          wait_for(backoff_after(outcome, drawn.highest), hints)};
}

// A JSON condition can read only a body in memory. If such a condition would have to read a longer body, the
// request does not count as idempotent.
std::uint64_t disk_share(const Facts& facts, const RoutePolicy& policy, bool over_http2) {
  // The upstream can show that a repeat is safe (`retry.refused`, HTTP/2), even if the request is not
  // idempotent.
  const bool repeats = facts.idempotent == Idempotency::yes || repeats_after_refusal(policy, over_http2);
  const bool retried =
      policy.mode == Mode::active && repeats && !are_attempts_spent(1, policy.retry.max_attempts);
  const bool refused = refuses_nested_client(facts, policy);
  return retried && !refused && !facts.no_store ? policy.replay_disk_bytes : 0;
}

HeadLimit head_limit(const RoutePolicy& policy, bool repeatable, Instant last_request_byte,
                     std::optional<Instant> deadline) {
  if (!repeatable || !policy.retry.attempt_timeout) {
    return {end_of(last_request_byte, policy.response_timeout), Cause::response_timeout};
  }
  const Instant attempt_end = last_request_byte + *policy.retry.attempt_timeout;
  return {deadline ? std::min(attempt_end, *deadline) : attempt_end, Cause::attempt_timeout};
}

Verdict decide(const Facts& facts, const Attempt& attempt, const Outcome& outcome, const RoutePolicy& policy,
               Instant now, std::optional<Instant> deadline, Dice& dice, double budget_left) {
  const bool in_time = is_in_time(deadline, now) && is_signed_at(facts, now);
  if (in_time && is_stale(facts, attempt, outcome, policy))
    return {true, Duration::zero(), Reason::stale_connection};
  if (const auto* responded = std::get_if<Responded>(&outcome);
      responded != nullptr && attempt.outcome_unknown && may_be_about_our_repeat(facts, *responded) &&
      keeps_failure(policy)) {
    return {false, {}, Reason::ambiguous_outcome};
  }
  if (ran_out_of_time(outcome, now, deadline)) return {false, {}, Reason::deadline_too_near};
  if (const auto reason = first_closed_gate(facts, attempt, outcome, policy)) return {false, {}, *reason};

  const Hints hints = honoured(hints_of(attempt, outcome), policy);
  const Duration hint = hints.retry_after.value_or(Duration::zero());
  if (asks_for_too_long(hints, policy)) return {false, hint, Reason::upstream_said_later};
  const bool asked = hint > Duration::zero();
  if (asked && !wait_fits(deadline, now, hint)) return {false, hint, Reason::upstream_said_later};
  const Duration backoff =
      backoff_after(outcome, draw_wait(policy.retry.backoff, retries_before(attempt), attempt.wait, dice));
  const Duration delay = wait_for(backoff, hints);
  if (!wait_fits(deadline, now, delay)) return {false, delay, Reason::deadline_too_near};
  if (const auto reason = last_closed_gate(facts, policy, now + delay, budget_left))
    return {false, delay, *reason};
  return {true, delay, reason_to_retry(outcome)};
}

}  // namespace reprise::policy
