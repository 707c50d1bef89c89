// A problem in a configuration file: an error or a warning, and its position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::config {

/// One problem. Lines and columns count from 1. Position 0:0 means the file as a whole (unreadable, or a key
/// is missing); column 0 means the whole line.
struct Problem {
  enum class Severity : std::uint8_t { error, warning };
  Severity severity = Severity::error;
  std::size_t line = 0;
  std::size_t column = 0;
  std::string path;     ///< path such as `routes[0].retry.deadline`; empty if the problem is not about a key
  std::string message;  ///< one line; never contains a value from `${env:..}` or `${file:..}`
  bool given = false;   ///< `path` names a flag or a variable, so the problem is not in the file
};

/// Returns "error" or "warning".
std::string_view word(Problem::Severity);
/// Returns `file:line:col: error: path: message`. Omits line and column for a problem of the whole file. Pass
/// an empty `severity` for a log line, which already has a severity.
std::string to_line(const Problem&, std::string_view file, std::string_view severity);
std::string to_line(const Problem&, std::string_view file);

}  // namespace reprise::config
