// The state that a request shares with all other requests to the same upstream host: budget, circuit, pause.
#pragma once

#include "proxy/forward/request/route.hpp"
#include "proxy/forward/worker/worker.hpp"
#include "proxy/policy/decision/host_account.hpp"

namespace reprise::forward {

/// Returns the budget, circuit and pause of the upstream host. Each is null if the route does not use it;
/// else it outlives the request. With `mode: off` or `observe`, none of them can prevent an attempt.
policy::HostShare host_share(Worker&, const Route&);

}  // namespace reprise::forward
