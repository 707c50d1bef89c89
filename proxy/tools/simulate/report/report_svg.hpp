// Draws the load of the upstream under each policy as one SVG picture, which contains its own explanation.
#pragma once

#include <string>

#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

std::string to_svg(const Report&);

}  // namespace reprise::tools
