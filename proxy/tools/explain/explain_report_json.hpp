// An explanation as JSON, for programs.
#pragma once

#include <string>

#include "proxy/tools/explain/explain_report.hpp"

namespace reprise::tools {

/// Returns one object with what the text says; spans are milliseconds.
std::string to_json(const ExplainReport&);

}  // namespace reprise::tools
