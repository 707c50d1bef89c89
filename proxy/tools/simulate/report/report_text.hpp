// The report on a terminal: a table, and the course of the load in blocks.
#pragma once

#include <string>

#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {

struct TextStyle {
  bool colours = false;
  bool blocks = true;  ///< the terminal shows U+2581 to U+2588
};

std::string to_text(const Report&, TextStyle);

}  // namespace reprise::tools
