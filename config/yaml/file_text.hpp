// Reads the text of a regular file. Cannot hang on a pipe without a writer or on an endless device.
#pragma once

#include <cstddef>
#include <string>

namespace reprise::config {

struct FileText {
  std::string text;     ///< at most `most` + 1 bytes; more than `most` means that the file is too large
  std::string trouble;  ///< reason of a failure, for `cannot read the file: ..`; empty on success
};

/// Reads at most `most` + 1 bytes of a file. Follows links. Never waits for another process, whatever size
/// the file reports.
FileText text_of_file(const std::string& path, std::size_t most);

}  // namespace reprise::config
