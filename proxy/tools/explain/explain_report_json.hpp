// Prints an explanation as JSON, for programs.
#pragma once

#include <string>

#include "proxy/tools/explain/explain_report.hpp"

namespace reprise::tools {

/// Returns the content of the text output as one JSON object. Durations are in milliseconds.
std::string to_json(const ExplainReport&);

}  // namespace reprise::tools
