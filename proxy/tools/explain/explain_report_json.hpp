// Prints an explanation as JSON, for programs.
#pragma once

#include <string>

#include "proxy/tools/explain/explain_report.hpp"

namespace reprise::tools {

/// Returns one JSON object with the content of the text. Durations are in milliseconds.
std::string to_json(const ExplainReport&);

}  // namespace reprise::tools
