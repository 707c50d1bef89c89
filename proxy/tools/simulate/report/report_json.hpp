// Writes the report of `reprise simulate` as JSON, for programs.
#pragma once

#include <string>

#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

/// Returns one JSON object with `"version": 1`. Times are in milliseconds.
std::string to_json(const Report&);

}  // namespace reprise::tools
