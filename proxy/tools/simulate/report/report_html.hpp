// The report as one page: no script, nothing from elsewhere; every picture has its numbers in a table.
#pragma once

#include <string>

#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

std::string to_html(const Report&);

}  // namespace reprise::tools
