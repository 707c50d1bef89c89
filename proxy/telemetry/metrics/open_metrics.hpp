// Writes the metrics as OpenMetrics 1.0 text, for scrapers that request it with Accept.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace reprise::telemetry {

/// Returns every family with its type, unit and help, then `# EOF`. The name of a counter's family lacks the
/// `_total` of its samples. A gauge whose name ends with `_info` becomes an info.
std::string open_metrics(const std::vector<prometheus::MetricFamily>&);

}  // namespace reprise::telemetry
