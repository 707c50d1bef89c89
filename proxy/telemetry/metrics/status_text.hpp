// What `reprise status` shows: the facts of the /status document for people.
#pragma once

#include <string>

#include "proxy/telemetry/metrics/status.hpp"

namespace reprise::telemetry {

/// Returns lines for a terminal, the last one without its end.
std::string status_text(const StatusFacts&, const config::Settings&, const Metrics::Totals&);

}  // namespace reprise::telemetry
