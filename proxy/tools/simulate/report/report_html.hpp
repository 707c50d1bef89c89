// Writes the report as one HTML page. It has no script and loads no other file; every chart also has a table
// of its numbers.
#pragma once

#include <string>

#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

std::string to_html(const Report&);

}  // namespace reprise::tools
