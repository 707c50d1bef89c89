// The gauges of budgets and circuits, which are read when somebody asks for the metrics.
#pragma once

#include "proxy/net/upstream/budget_table.hpp"
#include "proxy/net/upstream/host_guards.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::server {

/// Each label's own value; of upstreams that share one, the worst. Any thread.
void set_gauges(telemetry::Metrics&, net::BudgetTable&, net::HostGuards&);

}  // namespace reprise::server
