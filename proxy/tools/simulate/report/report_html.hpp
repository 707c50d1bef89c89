// Writes the report as one HTML page. The page has no script and loads no other file. Each chart comes with a
// table of its numbers.
#pragma once

#include <string>

#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

std::string to_html(const Report&);

}  // namespace reprise::tools
