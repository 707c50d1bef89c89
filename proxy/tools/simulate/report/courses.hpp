// The curves of a run and the charts that show them, for the HTML report and the SVG report.
#pragma once

#include "proxy/tools/simulate/report/chart.hpp"
#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

std::vector<double> load_of(const Measures&);      ///< attempts per second, by step
std::vector<double> arrivals_of(const Measures&);  ///< requests per second, by step
std::vector<double> success_of(const Measures&);   ///< fraction of successful requests (0 to 1), by step
std::vector<double> budget_of(const Measures&);    ///< fraction left in the emptiest budget (0 to 1), by step

/// Returns the value at the top of the vertical axis, which all load charts of the report share.
double highest_load(const Report&);
/// Returns a chart of attempts (filled) and requests (line) of the policy at index `place`, in its colour.
Chart load_chart(const Report&, std::size_t place);
Chart success_chart(const Report&, std::size_t place);
Chart budget_chart(const Report&, std::size_t place);
/// Returns one chart with the attempts per request of all policies.
Chart amplification_chart(const Report&);

/// Returns the CSS class with the colour of the policy at index `place`.
std::string colour_of(std::size_t place);

}  // namespace reprise::tools
