// The JSON Schema of the configuration.
#pragma once

#include <string>

namespace reprise::config {

/// Returns the JSON Schema (draft-07) of all supported keys. Editors use it to complete and check a file.
/// `config/schema.json` has the same text.
std::string schema_json();

}  // namespace reprise::config
