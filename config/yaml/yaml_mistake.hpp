// Explains invalid YAML: finds the probable mistake of the author, and its position.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reprise::config {

/// A mistake and its position. Lines and columns count from 1.
struct YamlMistake {
  std::size_t line = 1;
  std::size_t column = 1;
  std::string message;  ///< what to change
};

/// Finds the mistake that made the parser fail at that line and column. The mistake is often before that
/// position. Precondition: `text` has no tabs.
YamlMistake find_mistake(std::string_view text, std::size_t line, std::size_t column);

/// Returns `mode: off` for `mode:off`, if the word before the colon may be a key. Empty if no blank is
/// missing.
std::string with_blank_behind_colon(std::string_view text);

}  // namespace reprise::config
