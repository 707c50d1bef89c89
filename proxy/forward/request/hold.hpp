// Keeps the beginning of a response's body back before the attempt's outcome is told (the commit point).
#pragma once

#include "proxy/forward/request/response.hpp"
#include "proxy/policy/decision/hold.hpp"

namespace reprise::forward {

/// Reads the body into `response.body` until it ends, `hold.bytes` are there, the first event of an event
/// stream is complete, or `until` comes. Returns `head`, marked where a predicate matches, or how the body
/// broke; the response is then still there to be delivered as far as it came. At most one read more than
/// `hold.bytes` is held. A body that broke off because nothing came for `idle` is truncated.
Task<policy::Outcome> hold_back(net::Pool&, const policy::HoldPolicy&, const policy::Answered& head,
                                Duration idle, Instant until, Response& response);

/// Returns the predicate that matches by the head alone, for which no body is held back. Null if no such
/// predicate matches.
const policy::BodyPredicate* listed_by_head(const policy::HoldPolicy&, const Response&);

/// True if the route holds some of this response back; its body, if any, is unread.
bool is_held(const policy::HoldPolicy&, const Response&);

}  // namespace reprise::forward
