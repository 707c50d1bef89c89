// Numbers as people read them, the same in every form of the report.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/tools/simulate/measures.hpp"

namespace reprise::tools {

using policy::Duration;

/// `1,234,567`.
std::string grouped(std::uint64_t);
/// `99.93 %`; never 100 % for less than all.
std::string percent(double share);
/// `0.4 ms`, `57 ms`, `1.2 s`, `75 s`.
std::string span_text(Duration);
/// The same of a percentile; a dash of none.
std::string percentile_text(const Histogram&, double share);
/// `1,234/s`.
std::string per_second(double);
/// `1.34`.
std::string times(double);
/// `after 2 s`, `at once`, `no`: not while requests came; a dash without trouble.
std::string recovery_text(const Measures&);

}  // namespace reprise::tools
