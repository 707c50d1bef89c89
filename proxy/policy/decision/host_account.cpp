#include "proxy/policy/decision/host_account.hpp"

#include <algorithm>

#include "proxy/policy/decision/gates.hpp"

namespace reprise::policy {
namespace {

// Returns true if the circuit counts the response as a failure. Any gRPC status comes from a server that
// works, so only those count that the route lists (row M85).
bool counts_as_failure(const Responded& responded, const RoutePolicy& policy) {
  return responded.status >= 500 || (is_failed_call(responded) && policy.retry.on.lists(responded));
}

// Returns true if budget and circuit of the upstream host ignore the failure: this proxy's host caused it,
// the upstream gave the request back unprocessed, or the upstream does not speak HTTP/2 (row M85).
bool concerns_no_host(const Failed& failed) {
  return is_fault_of_ours(failed) || failed.unprocessed || failed.cause == Cause::not_http2;
}

}  // namespace

void HostAccount::draw_spread(Dice& dice) {
  if (share_.pause == nullptr || policy_.while_paused != WhilePaused::wait) return;
  const auto widest = static_cast<std::uint64_t>(policy_.retry.backoff.initial.count());
  spread_ = Duration(static_cast<Duration::rep>(dice.roll(widest)));
}

bool HostAccount::heeds_pause() const {
  return share_.pause != nullptr && policy_.while_paused != WhilePaused::go;
}

bool HostAccount::is_paused(Instant now) const { return heeds_pause() && share_.pause->until(now); }

// Returns when the request may continue after the pause. The times are spread, so that not all waiting
// requests continue at once. The spread also applies to retries whose own wait ended at or before the end of
// the pause (row L28).
std::optional<Instant> HostAccount::back_at(Instant now, std::optional<Instant> due) const {
  const auto end = share_.pause->end();
  const bool waited = policy_.while_paused == WhilePaused::wait && due && end && *due <= *end;
  return end && (now < *end || waited) ? std::optional(*end + spread_) : std::nullopt;
}

HostAccount::Admission HostAccount::admit(Instant now, std::optional<Instant> deadline,
                                          std::optional<Instant> due) {
  if (heeds_pause()) {
    const auto back = back_at(now, due);
    const bool fits = !back || is_in_time(deadline, *back);
    if (is_paused(now) && (policy_.while_paused == WhilePaused::fail || !fits))
      return Refused{Reason::host_paused};
    if (back && fits && now < *back) return Paused{*back};
  }
  if (share_.circuit != nullptr && !share_.circuit->admit(now)) return Refused{Reason::circuit_open};
  return Admitted{};
}

// Admits the hedge's copy of a request. Refunds the copy to the budget if the circuit does not admit the
// copy.
Reason HostAccount::admit_copy(Reason judged, Instant now) {
  if (is_paused(now)) return Reason::host_paused;
  Budget* budget = share_.budget;
  if (budget != nullptr && !budget->withdraw(now)) return Reason::budget_spent;
  if (budget != nullptr && judged == Reason::hedged) withdrawn_ = now;
  if (share_.circuit == nullptr) return judged;
  if (share_.circuit->admit(now)) {
    // In observe mode the copy is not sent, so it must not use up the circuit's probe.
    if (judged == Reason::observe_only) share_.circuit->discard(now);
    return judged;
  }
  if (budget != nullptr) budget->refund(now, now);
  withdrawn_.reset();
  return Reason::circuit_open;
}

double HostAccount::budget_left(Instant now) {
  if (share_.budget != nullptr) budget_seen_ = share_.budget->left(now);
  return budget_seen_;
}

void HostAccount::count_first(Instant now) {
  if (share_.budget != nullptr && !first_counted_) share_.budget->deposit(now);
  first_counted_ = true;
}

bool HostAccount::account_for(unsigned number, unsigned latest, const AttemptReport& report,
                              const Outcome& outcome, Instant now) {
  const bool unsent = is_unsent(outcome, report.sent == Sent::nothing);
  const auto* failed = std::get_if<Failed>(&outcome);
  if (number == first_ && !(unsent && concerns_no_host(*failed))) count_first(now);
  if (unsent && failed->unprocessed) first_ = number + 1;
  if (!withdrawn_ || !unsent || number != latest) return false;
  refund_retry(now);
  return true;
}

bool HostAccount::pay_for_retry(Instant now) {
  if (share_.budget == nullptr) return true;
  if (!share_.budget->withdraw(now)) return false;
  withdrawn_ = now;
  return true;
}

void HostAccount::pay_for_observed(Instant now) {
  if (share_.budget != nullptr) static_cast<void>(share_.budget->withdraw(now));
}

void HostAccount::pass_payment_on(bool given_back, Instant now) {
  withdrawn_.reset();
  if (given_back) static_cast<void>(pay_for_retry(now));
}

void HostAccount::refund_retry(Instant now) {
  if (withdrawn_) share_.budget->refund(*withdrawn_, now);
  withdrawn_.reset();
}

void HostAccount::report(const Outcome& outcome, const Verdict& verdict, Instant admitted, Instant now) {
  const auto* responded = std::get_if<Responded>(&outcome);
  const Hints hints = responded == nullptr ? Hints{} : honoured(responded->hints, policy_);
  if (share_.pause != nullptr && hints.retry_after && policy_.retry.on.lists(outcome)) {
    // Limits the pause to `retry_after.maximum`, so that one wrong field cannot block a host for days.
    share_.pause->ask(now + std::min(*hints.retry_after, policy_.retry.retry_after.maximum));
  }
  if (share_.circuit == nullptr) return;
  const auto* failed = std::get_if<Failed>(&outcome);
  const bool ignored = failed != nullptr && concerns_no_host(*failed);
  const bool stale = verdict.reason == Reason::stale_connection;
  // A retry follows the attempt on a stale connection. The retry uses the same admission by the circuit, and
  // its report counts for both attempts.
  if (stale && verdict.retry) return;
  if (ignored || stale) {
    share_.circuit->discard(admitted);
  } else if (responded != nullptr && !counts_as_failure(*responded, policy_)) {
    share_.circuit->succeeded(now, admitted);
  } else {
    share_.circuit->failed(now, admitted);
  }
}

void HostAccount::discard(Instant admitted) {
  if (share_.circuit != nullptr) share_.circuit->discard(admitted);
}

}  // namespace reprise::policy
