// Builds the routes: built-in defaults, then `defaults`, then the policy, then the route's own keys.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/yaml/document.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

/// The sections that made one route, strongest first; each is null where the file has none. Of a preset's
/// route, `route` is the entry of `presets`, and what the preset itself says stands between the layers.
struct RouteOrigin {
  struct Layer {
    const Node* node = nullptr;
    std::string path;
  };
  Layer over;  ///< what flags say of every route
  Layer route;
  std::vector<const Node*> shipped_route;  ///< hides what is below
  Layer policy;
  std::vector<const Node*> shipped_policies;
  Layer defaults;
};

struct BuiltRoutes {
  std::vector<policy::Route> routes;  ///< the file's own, those of presets, and the fallback, named `default`
  std::vector<RouteOrigin> origins;   ///< of each route; they point into the document
};

/// Names that are missing, reserved, taken or unknown go to the report. `over`: keys that win over those of
/// each route.
BuiltRoutes build_routes(const Node& root, const Node& over, Report&);

}  // namespace reprise::config
