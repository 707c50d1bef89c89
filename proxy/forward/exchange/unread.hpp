// HTTPS that goes through a tunnel: it cannot be read, and is not retried.
#pragma once

#include "proxy/forward/request/tunnel_request.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// What a tunnel that is open carries, by the first bytes of its streams.
telemetry::Carried carried_by(const TunnelRequest&);
/// True if `intercept.hosts` would make the TLS of this tunnel readable: its host is a name that is not
/// listed.
bool can_intercept(const TunnelRequest&);
/// Counts a tunnel of TLS by its host. Logs the first tunnel to each host, with what would make it readable.
void count_unread(Worker&, const TunnelRequest&);

}  // namespace reprise::forward
