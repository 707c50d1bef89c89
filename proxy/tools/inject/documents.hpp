// A file of several YAML documents, cut where one ends: the pieces, one behind the other, are the file.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/tools/inject/manifest.hpp"

namespace reprise::tools {

struct Document {
  std::string_view text;       ///< with its `---`, its comments and its last line end
  std::size_t number = 0;      ///< from 1; 0: comments before the first
  std::size_t first_line = 1;  ///< of the file
};

std::vector<Document> documents_of(std::string_view file);

/// Bytes that no YAML file has: of another encoding, or of no text at all.
std::optional<Fault> not_text(std::string_view file);

}  // namespace reprise::tools
