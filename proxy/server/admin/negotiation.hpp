// Which form of a response a request asks for (RFC 9110 section 12): the form of the metrics, and
// compression.
#pragma once

#include <string_view>

#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::server {

/// The form of the metrics that `Accept` prefers. OpenMetrics only if it is named, in version 1.0.0 or in
/// none, and nothing that the text format satisfies has more weight or comes first. `accept`: all fields of
/// that name, joined by commas.
telemetry::Exposition exposition_for(std::string_view accept);

/// True if the response is to be compressed by gzip: `Accept-Encoding` gives gzip some weight, and no less
/// than it gives `identity` by name.
bool takes_gzip(std::string_view accept_encoding);

}  // namespace reprise::server
