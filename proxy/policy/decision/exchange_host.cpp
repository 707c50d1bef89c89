// What an exchange takes from, and tells to, what all requests to its host share.
#include <algorithm>

#include "proxy/policy/decision/exchange.hpp"
#include "proxy/policy/decision/gates.hpp"

namespace reprise::policy {

// Those who wait for the end of a pause shall not come back all at once, retries whose own wait ended with it
// or in it no more than others (row L28).
std::optional<Instant> Exchange::wait_for_host(Instant now) const {
  const auto end = host_.pause->end();
  const bool waited = policy_.while_paused == WhilePaused::wait && due_ && end && *due_ <= *end;
  return end && (now < *end || waited) ? std::optional(*end + spread_) : std::nullopt;
}

// The host has asked for a pause that this route minds.
bool Exchange::is_paused(Instant now) const {
  return host_.pause != nullptr && policy_.while_paused != WhilePaused::go && host_.pause->until(now);
}

// What this attempt says of its host to the others.
void Exchange::tell_host(const Outcome& outcome, const Verdict& verdict, Instant admitted, Instant now) {
  const auto* answered = std::get_if<Answered>(&outcome);
  const Hints hints = answered == nullptr ? Hints{} : honoured(answered->hints, policy_);
  if (host_.pause != nullptr && hints.retry_after && policy_.retry.on.lists(outcome)) {
    // Capped, so that one strange field cannot shut a host out for days.
    host_.pause->ask(now + std::min(*hints.retry_after, policy_.retry.retry_after.maximum));
  }
  if (host_.circuit == nullptr) return;
  const auto* failed = std::get_if<Failed>(&outcome);
  const bool ours = failed != nullptr && is_fault_of_ours(*failed);
  const bool stale = verdict.reason == Reason::stale_connection;
  // The free retry goes on in the place of the attempt that was stale.
  if (stale && verdict.retry) return;
  if (ours || stale) {
    host_.circuit->forget(admitted);
  } else if (answered != nullptr && answered->status < 500) {
    host_.circuit->succeeded(now, admitted);
  } else {
    host_.circuit->failed(now, admitted);
  }
}

double Exchange::budget_left(Instant now) {
  if (host_.budget != nullptr) budget_seen_ = host_.budget->left(now);
  return budget_seen_;
}

void Exchange::count_first(Instant now) {
  if (host_.budget != nullptr && !counted_) host_.budget->deposit(now);
  counted_ = true;
}

// The first attempt feeds the budget unless it was kept here; a retry that ended without having sent a byte
// has burdened nobody, and is given back (decision 0015). True if it was.
bool Exchange::account_for(const AttemptReport& report, const Outcome& outcome, Instant now) {
  const bool unsent = is_unsent(outcome, report.sent == Sent::nothing);
  const bool kept_here = unsent && is_fault_of_ours(std::get<Failed>(outcome));
  if (number_of(report) == 1 && !kept_here) count_first(now);
  if (!withdrawn_ || !unsent || number_of(report) != number_) return false;
  host_.budget->refund(*withdrawn_, now);
  withdrawn_.reset();
  return true;
}

// False where the budget has no retry left.
bool Exchange::pay_for_retry(Instant now) {
  if (host_.budget == nullptr) return true;
  if (!host_.budget->withdraw(now)) return false;
  withdrawn_ = now;
  return true;
}

}  // namespace reprise::policy
