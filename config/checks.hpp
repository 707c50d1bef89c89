// Checks that involve several keys of a route: contradicting limits, rules that have no effect, unreachable
// routes.
#pragma once

#include "config/routes.hpp"
#include "config/settings.hpp"

namespace reprise::config {

/// Checks the final values of every route, including the fallback route. Reports each problem at the section
/// of the file whose value takes effect. `settings` provides the listeners and the limits of the process;
/// `root` provides the positions in the file.
void check_routes(const BuiltRoutes&, const Settings& settings, const Node& root, Report&);

}  // namespace reprise::config
