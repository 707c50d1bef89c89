// Builds the listeners, and checks the addresses of the listeners, of the admin listener, of gateways'
// upstreams and of the parent.
#pragma once

#include <vector>

#include "config/settings.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// Returns the listeners in the file, or the built-in listener. Reports a gateway without upstream, keys of
/// another mode, an address that other machines can reach without `allow_remote`, two listeners with the same
/// address, and an upstream or a parent that is a listener of this proxy. Reads the sections admin, parent
/// and security of `settings`.
std::vector<Listener> build_listeners(const Node& root, const Settings& settings, Report&);

}  // namespace reprise::config
