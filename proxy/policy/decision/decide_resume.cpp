#include "proxy/policy/decision/decide_resume.hpp"

#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/decision/gates.hpp"

namespace reprise::policy {
namespace {

std::optional<Reason> first_closed_gate(const Facts& facts, bool continuable, const ResumeHistory& history,
                                        const Hints& hints, const RoutePolicy& policy) {
  const bool wanted = policy.mode != Mode::off && policy.resume.enabled;
  if (!wanted || !continuable) return Reason::response_started;
  if (facts.idempotent != Idempotency::yes) return Reason::not_idempotent;
  if (facts.one_time) return Reason::signature_expired;
  if (hints.said_no) return Reason::upstream_said_no;
  if (refuses_nested_client(facts, policy)) return Reason::nested_retry;
  if (refuses_retried_response(hints, policy)) return Reason::nested_retry;
  if (are_attempts_spent(history.in_vain, policy.resume.max_attempts)) return Reason::attempts_spent;
  return std::nullopt;
}

}  // namespace

Verdict decide_resume(const Facts& facts, bool continuable, const ResumeHistory& history,
                      const Hints& received, const RoutePolicy& policy, Instant now, Dice& dice,
                      double budget_left) {
  if (const auto reason = first_closed_gate(facts, continuable, history, received, policy))
    return {false, {}, *reason};
  const Hints hints = honoured(received, policy);
  if (asks_for_too_long(hints, policy)) return {false, *hints.retry_after, Reason::upstream_said_later};
  const Duration delay =
      wait_for(draw_wait(policy.retry.backoff, history.in_vain, history.wait, dice), hints);
  if (const auto reason = last_closed_gate(facts, policy, now + delay, budget_left))
    return {false, delay, *reason};
  return {true, delay, Reason::resumed};
}

Reason reason_after_failure(Cause cause) {
  if (cause == Cause::address_denied) return Reason::address_denied;
  if (cause == Cause::address_is_self) return Reason::not_retryable;
  const bool unreadable = cause == Cause::malformed_response || cause == Cause::header_too_large;
  return unreadable ? Reason::resume_mismatch : Reason::resumed;
}

WaitRange wait_bounds(const ResumeHistory& history, const Hints& received, const RoutePolicy& policy) {
  const Hints hints = honoured(received, policy);
  const WaitRange drawn = wait_range(policy.retry.backoff, history.in_vain, history.wait);
  return {wait_for(drawn.lowest, hints), wait_for(drawn.highest, hints)};
}

}  // namespace reprise::policy
