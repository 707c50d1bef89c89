// Every key and value of a document against the key table:
// what is unknown, not built, of the wrong kind or range.
#pragma once

#include "config/yaml/document.hpp"

namespace reprise::config {

/// Walks the whole tree, so that one run names everything. What spans several keys is in checks.hpp.
void check_shape(const Node& root, Report&);

}  // namespace reprise::config
