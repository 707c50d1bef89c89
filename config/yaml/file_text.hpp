// The text of a file, where it is one: no pipe that nobody writes to, and no device that never ends.
#pragma once

#include <cstddef>
#include <string>

namespace reprise::config {

struct FileText {
  std::string text;  ///< at most one byte more than was allowed, so that one that is too large shows as such
  std::string trouble;  ///< why there is none, as in `cannot read the file: ..`; empty: `text` is it
};

/// Links are followed. Never waits for another process, however many bytes the file claims to have.
FileText text_of_file(const std::string& path, std::size_t most);

}  // namespace reprise::config
