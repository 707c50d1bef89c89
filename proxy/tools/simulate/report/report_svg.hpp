// Writes one picture that needs no further explanation: the load of the upstream under each policy.
#pragma once

#include <string>

#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

std::string to_svg(const Report&);

}  // namespace reprise::tools
