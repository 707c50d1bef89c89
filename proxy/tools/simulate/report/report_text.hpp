// Writes the report for a terminal: a table, and the load over time in block characters.
#pragma once

#include <string>

#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

struct TextStyle {
  bool colours = false;
  bool blocks = true;  ///< the terminal can show U+2581 to U+2588
};

std::string to_text(const Report&, TextStyle);

}  // namespace reprise::tools
