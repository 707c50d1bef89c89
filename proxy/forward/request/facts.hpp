// Reads from a request's head whether the request may be sent again.
#pragma once

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"

namespace reprise::forward {

/// Returns the facts that the head alone decides. Leaves `idempotent`, `signed_until` and `no_store` at their
/// defaults. Precondition: `view` describes the same request and has `changes_protocol` set. The callers (the
/// proxy and `explain`) add the facts that depend on the connection.
policy::Facts facts_of_head(const http::RequestHead&, const policy::RequestView& view,
                            const policy::RoutePolicy&);

}  // namespace reprise::forward
