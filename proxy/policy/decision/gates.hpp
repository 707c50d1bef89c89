// The gates that several decisions share: conditions that must hold before another attempt.
#pragma once

#include "proxy/policy/decision/ledger.hpp"
#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"

namespace reprise::policy {

/// Status 421: this connection does not serve the authority, but another connection may (RFC 9110 15.5.20).
inline constexpr int misdirected_request = 421;

/// Returns true if the client's request is itself a retry and the route refuses nested retries.
bool refuses_nested_client(const Facts&, const RoutePolicy&);

/// Returns true if another reprise has retried this response already and the route does not retry it again
/// (row D20).
bool refuses_retried_response(const Hints&, const RoutePolicy&);

/// Returns the hints, or no hints if `retry_after.honour` is false.
Hints honoured(const Hints&, const RoutePolicy&);

/// Returns true if the upstream asks for a longer pause than the route allows. Precondition: the hints come
/// from `honoured`.
bool asks_for_too_long(const Hints&, const RoutePolicy&);

/// The shared features of a host (budget, circuit, pause) that a route uses.
struct HostParts {
  bool budget = false;  ///< a retry budget applies; a route in mode `observe` has a budget of its own
  bool circuit = false;
  bool pause = false;
};
HostParts host_parts(const RoutePolicy&);

/// Returns true if this response says that the upstream did nothing, so that a request of any method may be
/// sent again. The response says so by a status in `retry.refused`, or by matching a predicate with
/// `refused`. If the request asks for another protocol, a 429 or 503 that `retry.on` lists says so too (row
/// N15).
bool is_refused(const Facts&, const Outcome&, const RoutePolicy&);

/// Returns true if an upstream of this route can report that it did nothing, by a response or by the end of
/// an HTTP/2 stream, so that a request of any method may be sent again. The body of the request must then be
/// held. `over_http2`: the request is sent over HTTP/2.
bool repeats_after_refusal(const RoutePolicy&, bool over_http2 = false);

/// Returns true if the request is sent over HTTP/2, unless this upstream needs HTTP/1. `needs_http1`: an
/// HTTP/1 client asks for another protocol (row M13), or the upstream authenticates the connection (row M30).
/// `from_http2`: the client has sent the request over HTTP/2.
bool uses_http2(const RoutePolicy&, bool needs_http1, bool from_http2);

/// Returns true if the route's rule decides idempotency without regard to the method: by a key, by a
/// precondition, or by `always`.
bool is_idempotent_by_rule(const RoutePolicy&);

/// Returns true if an attempt may be repeated after bytes were sent and no response came. The request must be
/// idempotent, and a second execution must not fail because of the first.
bool may_follow_lost_response(const Facts&, const RoutePolicy&);

/// Returns true if our own repeat may be the cause of that response, judged by its status, or by the status
/// of the call (row M90): an earlier attempt has an unknown outcome and may have taken effect.
bool may_be_about_our_repeat(const Facts&, const Responded&);

/// Returns true if the response of that attempt may be caused by our own repeat: another attempt was sent and
/// may have taken effect before the response arrived.
bool is_ambiguous(const Facts&, const Ledger&, unsigned number);

/// Returns true if the client's connection must end as the upstream's did, without a response (row D8). The
/// request was sent once, must not be repeated, and broke before the first response byte.
bool closes_like_upstream(const Facts&, const Ledger&, const RoutePolicy&);

/// Returns true if, on this route, the client gets the failure of a lost attempt instead of a later response
/// that our own repeat may have caused.
bool keeps_failure(const RoutePolicy&);

/// Returns true if the request's signature is valid at that time. Also true if the request has no signature,
/// or the route ignores it.
bool is_signed_at(const Facts&, Instant);

/// Returns true if that time is not after the deadline, or if there is no deadline.
bool is_in_time(std::optional<Instant> deadline, Instant);

/// Returns true if a wait that begins now ends by the deadline, or if there is no deadline.
bool wait_fits(std::optional<Instant> deadline, Instant now, Duration wait);

/// Returns true if `made` has reached the maximum number of attempts, `most`. Without `most` there is no
/// maximum.
bool are_attempts_spent(unsigned made, std::optional<unsigned> most);
/// Returns the number of attempts that counts towards `max_attempts`: stale retries count, resumes do not.
unsigned attempts_made(const Attempt&);

/// Returns true if there is less than one whole retry in the budget. `left` is the result of Budget::left.
bool is_budget_empty(double left);

/// Checks the last gates, which apply to every attempt after the first. Returns the reason of the first
/// closed gate among them. `sent_at` is when the next attempt would be sent.
std::optional<Reason> last_closed_gate(const Facts&, const RoutePolicy&, Instant sent_at, double budget_left);

}  // namespace reprise::policy
