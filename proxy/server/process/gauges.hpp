// Sets the gauges of budgets and circuits when the metrics are read.
#pragma once

#include "proxy/net/upstream/budget_table.hpp"
#include "proxy/net/upstream/host_guards.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::server {

/// Sets the gauges of budgets and circuits. If upstreams share a label, the worst value counts. Thread-safe.
void set_gauges(telemetry::Metrics&, net::BudgetTable&, net::HostGuards&);

}  // namespace reprise::server
