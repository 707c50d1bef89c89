// Questions that more than one decision asks before another attempt, each answered in one place.
#pragma once

#include "proxy/policy/decision/ledger.hpp"
#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"

namespace reprise::policy {

/// 421: the connection was not for that authority; another one may be (RFC 9110 15.5.20).
inline constexpr int misdirected_request = 421;

/// The client is itself on a retry, and the route refuses to multiply it.
bool refuses_nested_client(const Facts&, const RoutePolicy&);

/// Another reprise has retried this response already, and the route refuses to retry it again (row D20).
bool refuses_retried_response(const Hints&, const RoutePolicy&);

/// What of these counts on this route: nothing where it does not honour what upstreams ask for.
Hints honoured(const Hints&, const RoutePolicy&);

/// Of honoured hints: the upstream asks for a longer pause than the route waits for.
bool asks_for_too_long(const Hints&, const RoutePolicy&);

/// Which of what all requests to one host share a route has a part in.
struct HostParts {
  bool budget = false;  ///< one of its own where the route only observes
  bool circuit = false;
  bool pause = false;
};
HostParts host_parts(const RoutePolicy&);

/// The upstream says by this response that it did nothing: `retry.refused`, a predicate with `refused`, or,
/// for a request that asks for another protocol, a listed 429 or 503 (row N15). A request of any method may
/// follow.
bool is_refused(const Facts&, const Outcome&, const RoutePolicy&);

/// Some response of this route may be followed by a request of any method, so that its body has to be held.
bool repeats_after_refusal(const RoutePolicy&);

/// A rule of the route decides what is idempotent (a key, a precondition, `always`), not the method alone.
bool is_idempotent_by_rule(const RoutePolicy&);

/// An attempt of which bytes were sent and that got no response may be repeated: the request is idempotent,
/// and a second execution cannot fail because of the first.
bool may_follow_lost_response(const Facts&, const RoutePolicy&);

/// A response to a later attempt with that status may be about our own repeat, because an earlier attempt
/// whose outcome is unknown may have taken effect.
bool may_be_about_our_repeat(const Facts&, int status);

/// The response of that attempt may be about our own repeat: another attempt was sent, and may have taken
/// effect before the response came.
bool is_ambiguous(const Facts&, const Ledger&, unsigned number);

/// The client's connection ends as the upstream's did, without a response (row D8): the request was sent
/// once, must not be repeated, and broke before the first byte of a response.
bool closes_like_upstream(const Facts&, const Ledger&, const RoutePolicy&);

/// The client gets the failure of the lost attempt, not such a response.
bool keeps_failure(const RoutePolicy&);

/// The request's signature, if it has one that counts, still holds at that time.
bool is_signed_at(const Facts&, Instant);

/// That time is not after the deadline, if there is one.
bool is_in_time(std::optional<Instant> deadline, Instant);

/// A wait of that length from now on is over by the deadline, if there is one.
bool wait_fits(std::optional<Instant> deadline, Instant now, Duration wait);

/// As many attempts were made as there may be; absent: there may be any number.
bool are_attempts_spent(unsigned made, std::optional<unsigned> most);
/// The attempts that `max_attempts` counts: the stale retry is one of them, resumes are not.
unsigned attempts_made(const Attempt&);

/// `left` is what Budget::left said: not one whole retry.
bool is_budget_empty(double left);

/// What every attempt but the first has to pass last, where it would be sent at that time.
std::optional<Reason> last_closed_gate(const Facts&, const RoutePolicy&, Instant sent_at, double budget_left);

}  // namespace reprise::policy
