#include "proxy/policy/decision/hedge.hpp"

#include "proxy/policy/decision/gates.hpp"

namespace reprise::policy {
std::string_view word(HedgeOutcome outcome) {
  return names_of<HedgeOutcome>[static_cast<std::size_t>(outcome)];
}

std::optional<Instant> hedge_due(const RoutePolicy& policy, const ObservedLatency* latency, Instant start) {
  if (!policy.hedge || policy.mode == Mode::off) return std::nullopt;
  if (policy.hedge->after) return start + *policy.hedge->after;
  const auto p95 = latency == nullptr ? std::nullopt : latency->p95();
  return p95 ? std::optional(start + *p95) : std::nullopt;
}

Reason judge_hedge(const Facts& facts, const Attempt& attempt, const RoutePolicy& policy, Instant now,
                   std::optional<Instant> deadline, double budget_left) {
  if (refuses_nested_client(facts, policy)) return Reason::nested_retry;
  if (facts.idempotent != Idempotency::yes) return Reason::not_idempotent;
  if (!attempt.replayable) return Reason::not_replayable;
  if (are_attempts_spent(attempts_made(attempt), policy.retry.max_attempts)) return Reason::attempts_spent;
  if (!is_in_time(deadline, now)) return Reason::deadline_too_near;
  return last_closed_gate(facts, policy, now, budget_left).value_or(Reason::hedged);
}

// Returns false for a 421, although it is a response: our choice of connection may have caused it (RFC 9110
// 15.5.20), so the other copy, which uses another connection, may succeed.
bool ends_race(const Outcome& outcome, const RoutePolicy& policy) {
  const auto* responded = std::get_if<Responded>(&outcome);
  return responded != nullptr && responded->status != misdirected_request &&
         !policy.retry.on.lists(outcome) && !policy.retry.refused.lists(responded->status);
}

}  // namespace reprise::policy
