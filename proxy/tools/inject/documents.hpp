// Splits a file into its YAML documents. The pieces together are the whole file.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/tools/inject/manifest.hpp"

namespace reprise::tools {

struct Document {
  std::string_view text;       ///< with its `---`, its comments and its last newline
  std::size_t number = 0;      ///< from 1; 0: comments before the first document
  std::size_t first_line = 1;  ///< line number in the file
};

std::vector<Document> documents_of(std::string_view file);

/// Returns a fault if the file has bytes that YAML does not allow: it has another encoding, or is not text.
std::optional<Fault> not_text(std::string_view file);

}  // namespace reprise::tools
