// Checks which of the default networks a custom `security.deny` list omits (row L14).
#pragma once

#include "config/settings.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// Warns at the list, and names the default networks that it no longer denies. Does nothing if the file has
/// no such list.
void check_deny(const Node& root, const Deny&, Report&);

}  // namespace reprise::config
