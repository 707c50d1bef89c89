// Checks which of the default networks a custom `security.deny` list omits (row L14).
#pragma once

#include "config/settings.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// If the file has the list `security.deny`, warns at the position of that list about the default entries
/// that the list does not cover.
void check_deny(const Node& root, const Deny&, Report&);

}  // namespace reprise::config
