// The current settings, written as a configuration file.
#pragma once

#include <string>

#include "config/settings.hpp"

namespace reprise::config {

/// The settings as YAML that loads to the same settings again. `${..}` is replaced by its text, secrets
/// included. The password of `parent` is written as `***`, which does not load. Policies are merged into the
/// routes.
std::string effective_yaml(const Settings&);

}  // namespace reprise::config
