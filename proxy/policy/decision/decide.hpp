// Decides after each attempt whether the request is sent again, after which wait, and for which reason.
#pragma once

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"
#include "proxy/policy/pacing/backoff.hpp"
#include "proxy/policy/pacing/dice.hpp"

namespace reprise::policy {

/// Returns the verdict on one attempt. Pure. `deadline` is absent if the route has none. `budget_left` is the
/// result of Budget::left; infinite if there is no budget. The dice are rolled only if every gate before the
/// wait passes.
Verdict decide(const Facts&, const Attempt&, const Outcome&, const RoutePolicy&, Instant now,
               std::optional<Instant> deadline, Dice&, double budget_left);

/// Returns true if sending the request again after a lost response cannot repeat an effect. This holds if the
/// route is active, the request is idempotent (a create-only PUT only by a rule) and has no one-time
/// credentials, and its body is held. Limits of an attempt cut only such requests.
bool is_repeatable(const Facts&, const RoutePolicy&, bool replayable);

/// Returns the backoff, or a longer wait if the hints ask for one.
Duration wait_for(Duration backoff, const Hints&);

/// Returns the range from which the wait after that attempt was drawn, hints included. The ledger records it.
WaitRange wait_bounds(const Attempt&, const Outcome&, const RoutePolicy&);

/// Returns how many bytes of the request body may go to disk: 0 if the body could never be sent again, or if
/// the request is `no-store` (row D16).
std::uint64_t disk_share(const Facts&, const RoutePolicy&);

/// The time at which an attempt must have its response head. `last_request_byte` is when the whole request
/// was sent. attempt_timeout and the deadline end only a repeatable attempt; any other attempt has
/// response_timeout alone.
struct HeadLimit {
  Instant at;  ///< `no_end` if the route has no limit for this attempt
  Cause cause = Cause::response_timeout;
};
HeadLimit head_limit(const RoutePolicy&, bool repeatable, Instant last_request_byte,
                     std::optional<Instant> deadline);

}  // namespace reprise::policy
