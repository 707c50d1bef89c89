// One thing that is wrong, or looks wrong, in a configuration file, and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::config {

/// Lines and columns count from 1; 0:0 is the file as a whole (it cannot be read, a key is missing in it), a
/// column of 0 the line as a whole.
struct Problem {
  enum class Severity : std::uint8_t { error, warning };
  Severity severity = Severity::error;
  std::size_t line = 0;
  std::size_t column = 0;
  std::string path;     ///< the key, such as `routes[0].retry.deadline`; empty: no key, the text itself
  std::string message;  ///< one line; never has a value that came from `${env:..}` or `${file:..}`
  bool given = false;   ///< the path is a flag or a variable, and no file is at fault
};

/// "error" or "warning".
std::string_view word(Problem::Severity);
/// `file:line:col: error: path: message`; without line and column for a problem of the file as a whole, and
/// without a word for how bad it is where `severity` is empty: a log line has its own.
std::string to_line(const Problem&, std::string_view file, std::string_view severity);
std::string to_line(const Problem&, std::string_view file);

}  // namespace reprise::config
