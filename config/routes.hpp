// Builds the routes. Their values come from, in ascending precedence: built-in defaults, `defaults`, the
// policy, the route's own keys.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/yaml/document.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

/// The sections that set the values of one route, in descending precedence. A `node` is null if the file has
/// no such section. For a route of a preset, `route` is the file's entry in `presets`, and the `shipped_...`
/// members are sections of presets.
struct RouteOrigin {
  struct Layer {
    const Node* node = nullptr;
    std::string path;
  };
  Layer over;  ///< keys that command-line flags set for every route
  Layer route;
  std::vector<const Node*> shipped_route;  ///< definition of the route in the preset
  Layer policy;
  std::vector<const Node*> shipped_policies;
  Layer defaults;
};

struct BuiltRoutes {
  std::vector<policy::Route> routes;  ///< routes of the file, then of presets, then the fallback `default`
  std::vector<RouteOrigin> origins;   ///< origin of each route; points into the document
};

/// Builds all routes. Reports missing, reserved, repeated and unknown names. The keys of `over` take
/// precedence over the keys of each route.
BuiltRoutes build_routes(const Node& root, const Node& over, Report&);

}  // namespace reprise::config
