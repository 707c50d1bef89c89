// The curves of a run and their charts, shared by the HTML page and the SVG picture.
#pragma once

#include "proxy/tools/simulate/report/chart.hpp"
#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

std::vector<double> load_of(const Measures&);      ///< attempts per second
std::vector<double> arrivals_of(const Measures&);  ///< requests per second
std::vector<double> success_of(const Measures&);   ///< 0 to 1
std::vector<double> budget_of(const Measures&);    ///< 0 to 1

/// Returns the top of the scale that all load charts of the report share.
double highest_load(const Report&);
/// Draws attempts as an area and requests as a line; `place` selects the colour.
Chart load_chart(const Report&, std::size_t place);
Chart success_chart(const Report&, std::size_t place);
Chart budget_chart(const Report&, std::size_t place);
/// Draws attempts per request of all policies in one chart.
Chart amplification_chart(const Report&);

/// Returns the CSS class that has the policy's colour.
std::string colour_of(std::size_t place);

}  // namespace reprise::tools
