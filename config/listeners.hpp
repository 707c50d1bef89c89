// Builds the listeners, and checks the addresses of the listeners and of the admin listener.
#pragma once

#include <vector>

#include "config/settings.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// Returns the listeners in the file, or the built-in listener. Reports a gateway without upstream, keys of
/// another mode, an address that other machines can reach without `allow_remote`, and two listeners with the
/// same address.
std::vector<Listener> build_listeners(const Node& root, const Admin&, Report&);

}  // namespace reprise::config
