// The one place that finds out what a byte stream is: behind CONNECT, through SOCKS, or redirected here.
#pragma once

#include "proxy/forward/request/request.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// True where the client is heard before anything is dialled: the stream was redirected here, so that only it
/// can say for whom it is, or the host that was asked for is one whose TLS is ended here.
bool listens_first(const Route&, const TunnelRequest&);

/// Stores what the stream is in `tunnel.words`, and for TLS also `tunnel.tls`. The bytes that were read are
/// in `tunnel.early`. `upstream` is null while nothing is dialled. Then a client that may still send a
/// ClientHello, and stays silent for the whole wait, leaves `words` at `more`: call again once an upstream
/// stands, because that upstream may speak first. The second call waits for `timers.handshake`. An incomplete
/// beginning, or an incomplete ClientHello, is waited for as long if interception or the route depends on it;
/// otherwise it is forwarded after 200 ms (row G7).
Task<void> listen_to_client(Worker&, const Request&, TunnelRequest&, net::Stream& client,
                            net::Stream* upstream);

/// A line on what became of a client's TLS: what, for whom, where it came in.
void log_interception(Worker&, const Incoming&, const TunnelRequest&, telemetry::Interception,
                      std::string_view words = {});

}  // namespace reprise::forward
