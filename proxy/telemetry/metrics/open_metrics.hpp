// The text of OpenMetrics 1.0: the families of the metrics, in the form that a scraper asks for by Accept.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace reprise::telemetry {

/// Every family with its type, its unit and its help, then `# EOF`. A counter's family has no `_total`, which
/// its samples have; a gauge that is called `_info` is an info.
std::string open_metrics(const std::vector<prometheus::MetricFamily>&);

}  // namespace reprise::telemetry
