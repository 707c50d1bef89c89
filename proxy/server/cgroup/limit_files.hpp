// Parses the files that contain a control group's limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise::server {

/// Parses `memory.max`, `memory.high` (version 2) or `memory.limit_in_bytes` (version 1); returns bytes. None
/// if there is no limit (`max`, or a number that no machine reaches) or the text is malformed.
std::optional<std::uint64_t> memory_in(std::string_view text);

/// Parses `cpu.max`, such as `50000 100000`: quota and period in microseconds. Returns the number of CPUs,
/// above 0; none without a limit or if malformed.
std::optional<double> cpus_in(std::string_view text);

/// Parses the files of cgroup version 1: `cpu.cfs_quota_us` (-1 if there is no limit) and
/// `cpu.cfs_period_us`. Returns the number of CPUs, above 0; none without a limit or if malformed.
std::optional<double> cpus_in(std::string_view quota, std::string_view period);

}  // namespace reprise::server
