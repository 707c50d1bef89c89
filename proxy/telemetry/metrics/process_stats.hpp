// The `process_*` metrics, read from /proc/self at each scrape.
#pragma once

#include <prometheus/metric_family.h>

#include <optional>
#include <string_view>
#include <vector>

namespace reprise::telemetry {

/// Values of one line of /proc/self/stat, in the kernel's units (proc(5)).
struct ProcessStat {
  double cpu_ticks = 0;  ///< user plus system time
  double threads = 0;
  double start_ticks = 0;  ///< start of the process, counted in ticks since boot
  double resident_pages = 0;
};

/// Parses the line; returns none if it is malformed. The program's name in the line may contain spaces and
/// brackets.
std::optional<ProcessStat> parse_process_stat(std::string_view line);

/// Appends the families that could be read. Without /proc these families are missing, and nothing else fails.
void append_process_families(std::vector<prometheus::MetricFamily>&);

}  // namespace reprise::telemetry
