// Splits a file into its YAML documents. The texts of all documents, joined, are the whole file.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/tools/inject/manifest.hpp"

namespace reprise::tools {

struct Document {
  std::string_view text;  ///< text of the document with its `---`, its comments and its last newline
  /// Number of the document in the file, counted from 1; 0 for text without content, such as comments before
  /// the first document.
  std::size_t number = 0;
  std::size_t first_line = 1;  ///< number of the first line in the file, counted from 1
};

std::vector<Document> documents_of(std::string_view file);

/// Returns a fault at the first byte that is not valid UTF-8 or is a control character; nothing if the file
/// is text.
std::optional<Fault> not_text(std::string_view file);

}  // namespace reprise::tools
