// What the configuration says about itself: the page of all keys, the JSON Schema, the settings in force.
#pragma once

#include <string>

#include "config/settings.hpp"

namespace reprise::config {

/// A page in Markdown: every key with kind, default and sentence; `config/README.md` is this text.
std::string reference_markdown();

/// JSON Schema draft-07 of the keys that are built; an editor completes and checks a file with it.
std::string schema_json();

/// The settings as YAML that loads to the same settings again. `${..}` is not there any more: the text that
/// replaced it is, secrets included, but for the password of `parent`, which is `***`: that alone does not
/// load. Policies are merged into the routes.
std::string effective_yaml(const Settings&);

}  // namespace reprise::config
