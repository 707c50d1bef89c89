// The heart: from one attempt and its outcome to "again, after so long" or "no, because".
#pragma once

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"
#include "proxy/policy/pacing/backoff.hpp"
#include "proxy/policy/pacing/dice.hpp"

namespace reprise::policy {

/// Pure. `deadline` is absent where the route has none; `budget_left` is what Budget::left said (infinite
/// without one). The dice are rolled only when every gate before the wait was passed.
Verdict decide(const Facts&, const Attempt&, const Outcome&, const RoutePolicy&, Instant now,
               std::optional<Instant> deadline, Dice&, double budget_left);

/// True if a repeat after a lost response cannot repeat an effect: active route, idempotent (a create-only
/// PUT by a rule alone), no one-time credentials, body held. No limit of an attempt cuts any other request.
bool is_repeatable(const Facts&, const RoutePolicy&, bool replayable);

/// The backoff, or longer where the hints ask for it.
Duration wait_for(Duration backoff, const Hints&);

/// Between what the wait behind that attempt was drawn, hints included: for the record.
WaitRange wait_bounds(const Attempt&, const Outcome&, const RoutePolicy&);

/// How many bytes of the request's body may go to disk: none where nothing could ever send them again, and
/// none of a `no-store` request (row D16).
std::uint64_t disk_share(const Facts&, const RoutePolicy&);

/// When an attempt must have its response head. `last_request_byte` is when the request was wholly sent. Only
/// a repeatable attempt ends at attempt_timeout or at the deadline; any other has response_timeout alone.
struct HeadLimit {
  Instant at;  ///< `no_end` if the route has no limit for this attempt
  Cause cause = Cause::response_timeout;
};
HeadLimit head_limit(const RoutePolicy&, bool repeatable, Instant last_request_byte,
                     std::optional<Instant> deadline);

}  // namespace reprise::policy
