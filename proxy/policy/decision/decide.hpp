// Decides after each attempt whether the request is sent again, after how long a wait, and for which reason.
#pragma once

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"
#include "proxy/policy/pacing/backoff.hpp"
#include "proxy/policy/pacing/dice.hpp"

namespace reprise::policy {

/// Returns the verdict on one attempt. Pure. `deadline` is absent if the route has none. `budget_left` is the
/// result of Budget::left; infinite if there is no budget. The dice, which draw the wait, are rolled only if
/// all earlier checks pass.
Verdict decide(const Facts&, const Attempt&, const Outcome&, const RoutePolicy&, Instant now,
               std::optional<Instant> deadline, Dice&, double budget_left);

/// Returns true if the request can be sent again after a lost response without a second effect. This holds if
/// the route is active, the request is idempotent (a create-only PUT only by a rule), has no one-time
/// credentials, and its body is held. `attempt_timeout` and the deadline cut only the attempts of such
/// requests.
bool is_repeatable(const Facts&, const RoutePolicy&, bool replayable);

/// Returns the wait before the retry: the backoff, or longer if the hints require it.
Duration wait_for(Duration backoff, const Hints&);

/// Returns the range from which the wait after that attempt was drawn, including the hints. The ledger
/// records it.
WaitRange wait_bounds(const Attempt&, const Outcome&, const RoutePolicy&);

/// Returns how many bytes of the request body may go to disk: 0 if the body could never be sent again, or if
/// the request is `no-store` (row D16). `over_http2`: the request is sent over HTTP/2.
std::uint64_t disk_share(const Facts&, const RoutePolicy&, bool over_http2 = false);

/// The time by which an attempt must have received its response head. `last_request_byte` is when the whole
/// request was sent. `attempt_timeout` and the deadline limit only a repeatable attempt; any other attempt
/// has only `response_timeout`.
struct HeadLimit {
  Instant at;  ///< `no_end` if the route has no limit for this attempt
  Cause cause = Cause::response_timeout;
};
HeadLimit head_limit(const RoutePolicy&, bool repeatable, Instant last_request_byte,
                     std::optional<Instant> deadline);

}  // namespace reprise::policy
