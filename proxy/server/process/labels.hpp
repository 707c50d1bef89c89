// The labels of metrics and log lines that the configuration
// gives: names of routes, and upstreams that it names.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/telemetry/metrics/upstream_cells.hpp"

namespace reprise::server {

/// In table order.
std::vector<std::string> route_names(const policy::RouteTable&);
/// Exact hosts of routes, and upstreams of gateways.
telemetry::UpstreamLabels labels_of(const config::Settings&);

}  // namespace reprise::server
