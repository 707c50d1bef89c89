// The `process_*` metrics, read from /proc/self at the moment of a scrape.
#pragma once

#include <prometheus/metric_family.h>

#include <optional>
#include <string_view>
#include <vector>

namespace reprise::telemetry {

/// What one line of /proc/self/stat says, in the kernel's units (proc(5)).
struct ProcessStat {
  double cpu_ticks = 0;  ///< user and system
  double threads = 0;
  double start_ticks = 0;  ///< since boot
  double resident_pages = 0;
};

/// Nothing if the line is not of that form. The program's name in it may hold spaces and brackets.
std::optional<ProcessStat> parse_process_stat(std::string_view line);

/// Appends the families that could be read; a /proc that is not there costs them, nothing else.
void append_process_families(std::vector<prometheus::MetricFamily>&);

}  // namespace reprise::telemetry
