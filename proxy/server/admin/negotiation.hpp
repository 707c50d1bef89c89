// Content negotiation (RFC 9110 section 12): the format of the metrics, and compression.
#pragma once

#include <string_view>

#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::server {

/// Returns OpenMetrics if `Accept` names it (without a version, or with version 1.0.0) and prefers it to the
/// text format; otherwise returns the text format. The format with the higher weight is preferred; if the
/// weights are equal, the format that is listed first. `accept`: all fields of that name, joined by commas.
telemetry::Exposition exposition_for(std::string_view accept);

/// Returns true if the response should use gzip: `Accept-Encoding` gives gzip a weight above 0, and at least
/// that of an explicit `identity`.
bool takes_gzip(std::string_view accept_encoding);

}  // namespace reprise::server
