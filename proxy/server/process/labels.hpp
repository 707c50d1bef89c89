// Labels of metrics and log lines that come from the configuration: names of routes and upstreams.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/telemetry/metrics/upstream_cells.hpp"

namespace reprise::server {

/// Returns the names in the order of the table.
std::vector<std::string> route_names(const policy::RouteTable&);
/// Returns the exact hosts of routes and the upstreams of gateways.
telemetry::UpstreamLabels labels_of(const config::Settings&);

}  // namespace reprise::server
