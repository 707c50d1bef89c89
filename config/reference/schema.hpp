// The JSON Schema of the configuration.
#pragma once

#include <string>

namespace reprise::config {

/// JSON Schema draft-07 of the keys that are built; an editor completes and checks a file with it.
/// `config/schema.json` is this text.
std::string schema_json();

}  // namespace reprise::config
