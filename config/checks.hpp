// Checks that involve several keys of a route: contradicting limits, rules that have no effect, unreachable
// routes.
#pragma once

#include "config/routes.hpp"
#include "config/settings.hpp"

namespace reprise::config {

/// Checks the final values of every route, including the fallback. Reports each problem at the strongest
/// section that set the value. `settings` has the listeners and process limits, which `root` may set.
void check_routes(const BuiltRoutes&, const Settings& settings, const Node& root, Report&);

}  // namespace reprise::config
