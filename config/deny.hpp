// Checks which default networks a custom `security.deny` list leaves open (row L14).
#pragma once

#include "config/settings.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// Warns at the list and names the networks that are now open. Does nothing if the file has no such list.
void check_deny(const Node& root, const Deny&, Report&);

}  // namespace reprise::config
