// The report of `reprise simulate` as JSON, for programs.
#pragma once

#include <string>

#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

/// Returns one object, `"version": 1`; times in milliseconds.
std::string to_json(const Report&);

}  // namespace reprise::tools
