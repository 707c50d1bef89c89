// What a request's head says about sending the request again.
#pragma once

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"

namespace reprise::forward {

/// The facts that the head alone decides; `idempotent`, `signed_until` and `no_store` are left at their
/// defaults. `view` is of the same request and has `changes_protocol`. The proxy and `explain` add what they
/// know of the connection.
policy::Facts facts_of_head(const http::RequestHead&, const policy::RequestView& view,
                            const policy::RoutePolicy&);

}  // namespace reprise::forward
