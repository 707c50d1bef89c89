// Reports HTTPS that passes through a tunnel unread and is therefore not retried.
#pragma once

#include "proxy/forward/request/tunnel_request.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// Returns what an open tunnel carries: requests, TLS or other bytes.
telemetry::Carried carried_by(const TunnelRequest&);
/// Returns true if adding the host to `intercept.hosts` would make this tunnel's TLS readable. This requires
/// that the host is a name and is not in that list yet.
bool can_intercept(const TunnelRequest&);
/// Counts a tunnel that carries TLS, by host. Logs the first tunnel to each host, with advice on how to make
/// it readable.
void count_unread(Worker&, const TunnelRequest&);

}  // namespace reprise::forward
