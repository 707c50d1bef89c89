// Builds the routes: built-in defaults, then `defaults`, then the policy, then the route's own keys.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "proxy/policy/route.hpp"

namespace reprise::config {

/// The sections that made one route, strongest first; each is null where the file has none.
struct RouteOrigin {
  struct Layer {
    const Node* node = nullptr;
    std::string path;
  };
  Layer route;
  Layer policy;
  Layer defaults;
};

struct BuiltRoutes {
  std::vector<policy::Route> routes;  ///< the fallback, named `default`, is the last
  std::vector<RouteOrigin> origins;   ///< of each route; they point into the document
};

/// Names that are missing, reserved, taken or unknown go to the report.
BuiltRoutes build_routes(const Node& root, Report&);

}  // namespace reprise::config
