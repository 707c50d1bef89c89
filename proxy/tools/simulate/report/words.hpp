// Formats numbers for people, in the same way in every form of the report.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/tools/simulate/measures.hpp"

namespace reprise::tools {

using policy::Duration;

/// Returns a number with separators, for example `1,234,567`.
std::string grouped(std::uint64_t);
/// Returns a percentage, for example `99.93 %`. Returns `100 %` only if `share` is 1.
std::string percent(double share);
/// Returns a duration, for example `0.4 ms`, `57 ms`, `1.2 s` or `75 s`.
std::string span_text(Duration);
/// Returns the percentile as a duration; a dash if the histogram is empty.
std::string percentile_text(const Histogram&, double share);
/// Returns a rate, for example `1,234/s`.
std::string per_second(double);
/// Returns a factor, for example `1.34`.
std::string times(double);
/// Returns the time to recover: `at once`, or for example `after 2 s`. Returns `no` if the service did not
/// recover while requests arrived, and a dash if there was no outage and no burst.
std::string recovery_text(const Measures&);

}  // namespace reprise::tools
