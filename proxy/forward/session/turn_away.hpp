// Turns away a client for which there is no room: sends 503 with Retry-After, or the equivalent in the
// client's protocol.
#pragma once

#include "proxy/forward/session/listener_mode.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// Returns advice on how to avoid reaching the limit `why`, for the response and the log.
std::string_view advice_of(telemetry::LimitHit why);

/// Waits up to a second for the client's request, sends 503 with Retry-After and Reprise-Reason, and closes
/// gracefully. Responds at once if many clients are already being turned away. Counts in the metrics that the
/// limit was reached. Returns immediately; a coroutine does the rest.
void turn_away(Worker&, tcp::socket, const ListenerMode&, telemetry::LimitHit why);

/// Responds and closes the connection before returning, for a client that uses the reserve descriptor. Counts
/// in the metrics that the limit was reached.
void turn_away_now(Worker&, tcp::socket, const ListenerMode&, telemetry::LimitHit why);

}  // namespace reprise::forward
