// The current settings, written as a configuration file.
#pragma once

#include <string>

#include "config/settings.hpp"

namespace reprise::config {

/// Returns the settings as YAML that loads to the same settings. Each `${..}` is replaced by its text,
/// including secrets. The password of `parent` is printed as `***`, which does not load. Policies are merged
/// into the routes.
std::string effective_yaml(const Settings&);

}  // namespace reprise::config
