// Holds back the beginning of a response's body until the attempt's outcome is decided (the commit point).
#pragma once

#include "proxy/forward/request/response.hpp"
#include "proxy/policy/decision/hold.hpp"

namespace reprise::forward {

/// Reads the body into `response.body` until the body ends, `hold.bytes` have arrived, the first event of an
/// event stream is complete, or `until` is reached. The last read may exceed `hold.bytes`.
///
/// Returns a copy of `head` in which `body_listed` and `body_refused` are set according to the matching
/// predicate, or a failure that says how the body broke. After a failure, the part of the response that
/// arrived can still be delivered. A body that brings no byte for `idle` counts as truncated.
Task<policy::Outcome> hold_back(net::Pool&, const policy::HoldPolicy&, const policy::Responded& head,
                                Duration idle, Instant until, Response& response);

/// Returns the predicate that matches by the head alone, so that no body has to be held back. Null if no
/// predicate matches.
const policy::BodyPredicate* listed_by_head(const policy::HoldPolicy&, const Response&);

/// Returns true if the route holds back some of this response. Precondition: the body is unread.
bool is_held(const policy::HoldPolicy&, const Response&);

}  // namespace reprise::forward
