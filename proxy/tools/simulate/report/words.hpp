// Formats numbers for people, the same in every form of the report.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/tools/simulate/measures.hpp"

namespace reprise::tools {

using policy::Duration;

/// Returns `1,234,567`.
std::string grouped(std::uint64_t);
/// Returns `99.93 %`. Only 1 gives 100 %.
std::string percent(double share);
/// Returns `0.4 ms`, `57 ms`, `1.2 s`, `75 s`.
std::string span_text(Duration);
/// Returns the percentile as a span; a dash if the histogram is empty.
std::string percentile_text(const Histogram&, double share);
/// Returns `1,234/s`.
std::string per_second(double);
/// Returns `1.34`.
std::string times(double);
/// Returns `after 2 s`, `at once`, or `no` if it did not recover while requests arrived; a dash if there was
/// no trouble.
std::string recovery_text(const Measures&);

}  // namespace reprise::tools
