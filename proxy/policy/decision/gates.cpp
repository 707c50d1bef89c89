#include "proxy/policy/decision/gates.hpp"

#include <algorithm>
#include <array>

namespace reprise::policy {

bool refuses_nested_client(const Facts& facts, const RoutePolicy& policy) {
  return facts.nested && policy.retry.nested == Nested::refuse;
}

bool refuses_retried_response(const Hints& hints, const RoutePolicy& policy) {
  return hints.from_reprise && policy.retry.inner == Nested::refuse;
}

bool is_refused(const Facts& facts, const Outcome& outcome, const RoutePolicy& policy) {
  const auto* responded = std::get_if<Responded>(&outcome);
  if (responded == nullptr) return false;
  const bool busy = responded->status == 429 || responded->status == 503;
  return responded->body_refused || policy.retry.refused.lists(responded->status) ||
         (facts.changes_protocol && busy && policy.retry.on.lists(outcome));
}

bool repeats_after_refusal(const RoutePolicy& policy, bool over_http2) {
  if (policy.mode == Mode::off) return false;
  if (over_http2) return true;  // a stream may be refused (rows M68 and M69)
  if (policy.retry.refused.statuses.any()) return true;
  return policy.hold && std::any_of(policy.hold->body.begin(), policy.hold->body.end(),
                                    [](const BodyPredicate& predicate) { return predicate.refused; });
}

bool uses_http2(const RoutePolicy& policy, bool needs_http1, bool from_http2) {
  const bool is_asked =
      policy.http2 == UseHttp2::always || (policy.http2 == UseHttp2::automatic && from_http2);
  return is_asked && !needs_http1;
}

bool is_idempotent_by_rule(const RoutePolicy& policy) { return !policy.idempotent.asks_method(); }

bool may_follow_lost_response(const Facts& facts, const RoutePolicy& policy) {
  return facts.idempotent == Idempotency::yes && (is_idempotent_by_rule(policy) || !facts.create_only);
}

bool may_be_about_our_repeat(const Facts& facts, const Responded& response) {
  constexpr std::array statuses{401, 403, 404, 405, 409, 410, 412, 422};
  constexpr std::array of_calls{GrpcStatus::not_found, GrpcStatus::already_exists,
                                GrpcStatus::failed_precondition, GrpcStatus::aborted};
  if (facts.safe_method) return false;
  return std::find(statuses.begin(), statuses.end(), response.status) != statuses.end() ||
         (response.grpc && std::find(of_calls.begin(), of_calls.end(), *response.grpc) != of_calls.end());
}

bool is_ambiguous(const Facts& facts, const Ledger& ledger, unsigned number) {
  const LedgerEntry& given = ledger[number - 1];
  const auto* response = std::get_if<Responded>(&given.outcome);
  if (response == nullptr || !may_be_about_our_repeat(facts, *response)) return false;
  // Evicted attempts started after the hedge race was over, so their numbers are in the order of their
  // starts.
  const unsigned sent_first = ledger.evicted() == nullptr ? 0 : ledger.evicted()->first_sent;
  if (sent_first != 0 && sent_first < number) return true;
  for (std::size_t i = 0; i < ledger.size(); i = ledger.next(i)) {
    const LedgerEntry& other = ledger[i];
    // A hedged copy has a higher number, but may have reached the upstream first.
    const bool before = i + 1 < number || other.started < given.ended;
    if (i + 1 != number && before && other.attempt.sent == Sent::maybe) return true;
  }
  return false;
}

bool closes_like_upstream(const Facts& facts, const Ledger& ledger, const RoutePolicy& policy) {
  if (ledger.size() != 1 || ledger.reason != Reason::not_idempotent) return false;
  const LedgerEntry& only = ledger.back();
  const auto* failed = std::get_if<Failed>(&only.outcome);
  const bool ended = failed != nullptr && (failed->cause == Cause::closed || failed->cause == Cause::reset);
  if (!ended || (failed->stage != Stage::send && failed->stage != Stage::await_head)) return false;
  switch (policy.on_broken) {
    case OnBroken::respond: return false;
    case OnBroken::close: return true;
    case OnBroken::automatic: break;
  }
  return facts.unaware_client && (facts.first_of_connection || only.attempt.reused);
}

bool keeps_failure(const RoutePolicy& policy) {
  switch (policy.ambiguous) {
    case Ambiguous::failure: return true;
    case Ambiguous::response: return false;
    case Ambiguous::automatic: break;
  }
  return !is_idempotent_by_rule(policy);
}

Hints honoured(const Hints& received, const RoutePolicy& policy) {
  return policy.retry.retry_after.honour ? received : Hints{};
}

bool asks_for_too_long(const Hints& hints, const RoutePolicy& policy) {
  return hints.retry_after && *hints.retry_after > policy.retry.retry_after.maximum;
}

HostParts host_parts(const RoutePolicy& policy) {
  const bool active = policy.mode == Mode::active;
  return {policy.mode != Mode::off && policy.budget.has_value(), active && policy.circuit.has_value(),
          active && policy.while_paused != WhilePaused::go};
}

bool is_signed_at(const Facts& facts, Instant at) { return !facts.signed_until || at <= *facts.signed_until; }

bool is_in_time(std::optional<Instant> deadline, Instant at) { return !deadline || at <= *deadline; }

bool wait_fits(std::optional<Instant> deadline, Instant now, Duration wait) {
  return !deadline || wait <= *deadline - now;
}

bool are_attempts_spent(unsigned made, std::optional<unsigned> most) { return most && made >= *most; }

unsigned attempts_made(const Attempt& attempt) {
  return attempt.charged + (attempt.stale_retry_used ? 1 : 0);
}

bool is_budget_empty(double left) { return left < 1; }

std::optional<Reason> last_closed_gate(const Facts& facts, const RoutePolicy& policy, Instant sent_at,
                                       double budget_left) {
  if (!is_signed_at(facts, sent_at)) return Reason::signature_expired;
  if (is_budget_empty(budget_left)) return Reason::budget_spent;
  if (policy.mode == Mode::observe) return Reason::observe_only;
  return std::nullopt;
}

}  // namespace reprise::policy
