// The text that `reprise status` shows: the facts of the /status document for people.
#pragma once

#include <string>

#include "proxy/telemetry/metrics/status.hpp"

namespace reprise::telemetry {

/// Returns the text for a terminal. Its last line has no line end.
std::string status_text(const StatusFacts&, const config::Settings&, const Metrics::Totals&);

}  // namespace reprise::telemetry
