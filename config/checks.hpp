// What spans several keys of a route: limits that contradict each other, rules that cannot work, dead routes.
#pragma once

#include "config/routes.hpp"
#include "config/settings.hpp"

namespace reprise::config {

/// Judges every route as it will act, the fallback included, and names the strongest section that made it so.
/// `settings`: where their requests may come in, and the limits of the process, which `root` may set.
void check_routes(const BuiltRoutes&, const Settings& settings, const Node& root, Report&);

}  // namespace reprise::config
