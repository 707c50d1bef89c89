// Builds the listeners, and checks the addresses that they and the admin listener bind.
#pragma once

#include <vector>

#include "config/settings.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// Returns the listeners of the file, or the built-in one. Reports a gateway without upstream, keys of
/// another mode, an address that other machines reach without `allow_remote`, and two listeners that bind the
/// same address.
std::vector<Listener> build_listeners(const Node& root, const Admin&, Report&);

}  // namespace reprise::config
