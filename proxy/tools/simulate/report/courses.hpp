// The courses that are drawn of a run, and their charts: the same on the page and in the picture.
#pragma once

#include "proxy/tools/simulate/report/chart.hpp"
#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

std::vector<double> load_of(const Measures&);      ///< attempts a second
std::vector<double> arrivals_of(const Measures&);  ///< requests a second
std::vector<double> success_of(const Measures&);   ///< 0 to 1
std::vector<double> budget_of(const Measures&);    ///< 0 to 1

/// The top of the scale that all load charts of the report share.
double highest_load(const Report&);
/// Attempts as an area, requests as a line; `place` gives the colour.
Chart load_chart(const Report&, std::size_t place);
Chart success_chart(const Report&, std::size_t place);
Chart budget_chart(const Report&, std::size_t place);
/// Attempts for each request, of all policies in one.
Chart amplification_chart(const Report&);

/// The class that has the colour of that policy.
std::string colour_of(std::size_t place);

}  // namespace reprise::tools
