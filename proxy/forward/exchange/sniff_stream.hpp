// Detects which protocol a byte stream carries, for CONNECT, SOCKS and redirected connections.
#pragma once

#include "proxy/forward/request/request.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// Returns true if the client's first bytes are read before an upstream is dialled. This is done for a
/// redirected stream, because only these bytes can name the host. It is also done if TLS to the requested
/// host is intercepted.
bool sniffs_before_dial(const Route&, const TunnelRequest&);

/// Stores the detected protocol in `tunnel.detected` and, for TLS, the ClientHello's contents in
/// `tunnel.tls`. The bytes that were read are in `tunnel.early`. `upstream`: null if no upstream is connected
/// yet.
///
/// Without an upstream, `words` stays `more` if the client sends nothing during the whole wait but may still
/// send a ClientHello. Call again once an upstream is connected, because that upstream may send first. The
/// second call waits for `timers.handshake`.
///
/// An incomplete request line or ClientHello is forwarded after 200 ms (row G7). Exception: if interception
/// or the route depends on the client's first bytes, this function waits for `timers.handshake`.
Task<void> sniff_stream(Worker&, const Request&, TunnelRequest&, net::Stream& client, net::Stream* upstream);

/// Logs how a client's TLS was handled: the outcome, the server name, and the listener.
void log_interception(Worker&, const Incoming&, const TunnelRequest&, telemetry::Interception,
                      std::string_view words = {});

}  // namespace reprise::forward
