// What a request shares with all others to its upstream host: budget, circuit, pause.
#pragma once

#include "proxy/forward/request/route.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// The parts that the route takes part in; they outlive the request. A route that is off or only
/// observes is not stopped by what it does not take part in.
policy::HostShare host_share(Worker&, const Route&);

}  // namespace reprise::forward
