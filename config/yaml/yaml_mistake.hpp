// What an author meant by text that is no YAML: the mistake in words, at the place where it is mended.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reprise::config {

/// Lines and columns from 1.
struct YamlMistake {
  std::size_t line = 1;
  std::size_t column = 1;
  std::string message;  ///< what to change
};

/// Looks at the text around the place where the parser gave up,
/// which is often behind the mistake. `text` has no tabs.
YamlMistake find_mistake(std::string_view text, std::size_t line, std::size_t column);

/// `mode: off` for `mode:off`, where the word before the colon may be a key; empty: nothing is missing there.
std::string with_blank_behind_colon(std::string_view text);

}  // namespace reprise::config
