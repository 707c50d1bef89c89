// Checks the bytes of a configuration file before the YAML parser: size, encoding, control characters, tabs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/yaml/report.hpp"

namespace reprise::config {

struct CleanText {
  std::string text;       ///< UTF-8 without byte order mark; lines end in LF; each tab is replaced by a blank
  bool had_tabs = false;  ///< tabs were found and reported; they may cause errors of the parser
};

/// Returns the text for the parser. Returns nothing if the bytes must not be parsed; the report then has the
/// reason.
std::optional<CleanText> clean_text(std::string_view bytes, Report&);

/// Returns true if a value has a line break or another control character, including DEL.
bool has_control(std::string_view text);

}  // namespace reprise::config
