// Checks every key and value of a document against the key table: unknown keys, unsupported keys, wrong
// kinds, wrong ranges.
#pragma once

#include "config/yaml/document.hpp"

namespace reprise::config {

/// Accepts files that a YAML 1.1 tool has rewritten: reads `false` as `off` if `off` is a word of the key,
/// and a key `true` as `on` if there is a key `on`. Call before check_shape.
void read_yaml_1_1(Node& root);

/// If an entry has the old name of a renamed key, replaces that name by the new one, and warns. Reports an
/// error if a section has both names. Call before check_shape.
void read_renamed_keys(Node& root, Report&);

/// Walks the whole tree, so that one run reports all errors. Checks that span several keys are in checks.hpp.
void check_shape(const Node& root, Report&);

}  // namespace reprise::config
