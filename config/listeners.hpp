// Builds the listeners and checks what they and the admin listener bind.
#pragma once

#include <vector>

#include "config/settings.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// The listeners of the file, or the built-in one. A gateway without upstream, keys of the
/// other mode, an address that other machines reach without `allow_remote`, and two that
/// bind the same address go to the report.
std::vector<Listener> build_listeners(const Node& root, const Admin&, Report&);

}  // namespace reprise::config
