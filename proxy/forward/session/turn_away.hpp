// The response to a client for which there is no room, before it has asked: 503 with Retry-After and
// Reprise-Reason, or its like in the client's protocol.
#pragma once

#include "proxy/forward/session/listener_mode.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// What to do about it: the sentence of the response, and of the log.
std::string_view advice_of(telemetry::LimitHit why);

/// Waits a moment for the client's request, answers, and closes gently. Where many are being turned away
/// already it answers at once. Counted. Returns at once; a coroutine does the rest.
void turn_away(Worker&, tcp::socket, const ListenerMode&, telemetry::LimitHit why);

/// Answers and closes before it returns: for a descriptor that was borrowed. Counted.
void turn_away_now(Worker&, tcp::socket, const ListenerMode&, telemetry::LimitHit why);

}  // namespace reprise::forward
