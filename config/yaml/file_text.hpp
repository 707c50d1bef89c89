// Reads the text of a regular file. Rejects pipes without a writer and devices without an end.
#pragma once

#include <cstddef>
#include <string>

namespace reprise::config {

struct FileText {
  std::string text;     ///< at most one byte over the limit, which shows that the file is too large
  std::string trouble;  ///< reason of a failure, as in `cannot read the file: ..`; empty on success
};

/// Reads at most `most` + 1 bytes of a file. Follows links. Never waits for another process, whatever size
/// the file reports.
FileText text_of_file(const std::string& path, std::size_t most);

}  // namespace reprise::config
