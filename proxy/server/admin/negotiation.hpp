// Content negotiation (RFC 9110 section 12): the format of the metrics, and compression.
#pragma once

#include <string_view>

#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::server {

/// Returns the format that `Accept` prefers. Returns OpenMetrics only if `Accept` names it, without a version
/// or with 1.0.0, and prefers it to the text format: no item for the text format has a higher weight, or the
/// same weight and an earlier place. `accept`: all fields of that name, joined by commas.
telemetry::Exposition exposition_for(std::string_view accept);

/// Returns true if the response should use gzip: `Accept-Encoding` gives gzip a weight above 0, and at least
/// that of an explicit `identity`.
bool takes_gzip(std::string_view accept_encoding);

}  // namespace reprise::server
