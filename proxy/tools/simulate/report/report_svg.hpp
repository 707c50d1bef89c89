// Writes the report as one SVG picture with its own explanation: the load of the upstream under each policy.
#pragma once

#include <string>

#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

std::string to_svg(const Report&);

}  // namespace reprise::tools
