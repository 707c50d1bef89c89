// The state that a request shares with all other requests to the same upstream host: budget, circuit, pause.
#pragma once

#include "proxy/forward/request/route.hpp"
#include "proxy/forward/worker/worker.hpp"
#include "proxy/policy/decision/host_account.hpp"

namespace reprise::forward {

/// Returns the parts that the route uses; they outlive the request. The other parts are null. For a route
/// with `mode: off` or `observe`, no part can prevent an attempt.
policy::HostShare host_share(Worker&, const Route&);

}  // namespace reprise::forward
