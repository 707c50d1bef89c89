// Every key and value of a document against the key table:
// what is unknown, not built, of the wrong kind or range.
#pragma once

#include "config/yaml/document.hpp"

namespace reprise::config {

/// Reads what a YAML 1.1 tool makes of a file: `false` where `off` is a word, and a key `true` where `on` is
/// a key. Call it before check_shape.
void read_yaml_1_1(Node& root);

/// Walks the whole tree, so that one run names everything. What spans several keys is in checks.hpp.
void check_shape(const Node& root, Report&);

}  // namespace reprise::config
