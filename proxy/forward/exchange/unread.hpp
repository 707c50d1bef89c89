// Reports HTTPS that passes through a tunnel unread and is therefore not retried.
#pragma once

#include "proxy/forward/request/tunnel_request.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// Returns what an open tunnel carries, judged by its first bytes.
telemetry::Carried carried_by(const TunnelRequest&);
/// Returns true if this tunnel's TLS would become readable with its host in `intercept.hosts`: the host is a
/// name, and is not in that list yet.
bool can_intercept(const TunnelRequest&);
/// Counts a tunnel that carries TLS, by host. Logs the first tunnel to each host, with advice on how to make
/// it readable.
void count_unread(Worker&, const TunnelRequest&);

}  // namespace reprise::forward
