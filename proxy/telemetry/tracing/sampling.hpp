// Which finished requests get spans.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/policy/pacing/dice.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"
#include "proxy/telemetry/tracing/span_queue.hpp"

namespace reprise::telemetry {

/// With a well-formed `traceparent`, its sampled flag decides (W3C Trace Context 2.2.6): whoever began
/// the trace has decided for all of it. Without one, a request that is worth telling of always gets
/// spans, and of the rest a share of `ratio`, by the last 56 bits of its trace id, `random`
/// (OpenTelemetry, Probability Sampling).
bool is_sampled(std::string_view traceparent, bool worth_telling, double ratio, std::uint64_t random);

/// Queues the request if it is to have spans. On the queue's io thread; never waits. `path`: whether the
/// request's path may be told.
void offer_spans(SpanQueue&, Metrics&, const ExchangeRecord&, bool path, double ratio, policy::Dice&);

}  // namespace reprise::telemetry
