// Decides which finished requests get spans.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/policy/pacing/dice.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"
#include "proxy/telemetry/tracing/span_queue.hpp"

namespace reprise::telemetry {

/// Returns true if the request gets spans. With a well-formed `traceparent`, its sampled flag decides (W3C
/// Trace Context 2.2.6): the caller already decided for the whole trace. Without a `traceparent`, a `notable`
/// request always gets spans. Any other request gets spans with probability `ratio`, decided by the last 56
/// bits of its trace id (OpenTelemetry, Probability Sampling). `random`: the last 64 bits of the trace id.
bool is_sampled(std::string_view traceparent, bool notable, double ratio, std::uint64_t random);

/// Queues the request if it gets spans. Called on the queue's io thread; never waits. `path`: true if the
/// path of the request may be included.
void offer_spans(SpanQueue&, Metrics&, const ExchangeRecord&, bool path, double ratio, policy::Dice&);

}  // namespace reprise::telemetry
