// The bytes of a configuration file before YAML sees them: size, encoding, control characters, tabs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/yaml/report.hpp"

namespace reprise::config {

struct CleanText {
  std::string text;       ///< UTF-8 without byte order mark, lines end in \n, a blank for each tab
  bool had_tabs = false;  ///< reported; what the parser says next may be their fault
};

/// Nothing where the bytes are no text that a parser should see; the report says why.
std::optional<CleanText> clean_text(std::string_view bytes, Report&);

/// Whether a value has a line break or another control character in it, DEL included.
bool has_control(std::string_view text);

}  // namespace reprise::config
