// What the files say in which a control group's limits stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise::server {

/// `memory.max`, `memory.high` (version 2), `memory.limit_in_bytes` (version 1): bytes. Nothing where there
/// is no limit, `max` or a number that no machine reaches, and where the text says neither.
std::optional<std::uint64_t> memory_in(std::string_view text);

/// `cpu.max`, `50000 100000`: quota and period in microseconds, as the share of processors that they are,
/// above 0. Nothing as above.
std::optional<double> cpus_in(std::string_view text);

/// The same as version 1 has it, in `cpu.cfs_quota_us` (-1: none) and `cpu.cfs_period_us`.
std::optional<double> cpus_in(std::string_view quota, std::string_view period);

}  // namespace reprise::server
