// The gauges of budgets and circuits, which are read when somebody asks for the metrics.
#pragma once

#include "proxy/observe/metrics.hpp"
#include "proxy/upstream/budget_table.hpp"
#include "proxy/upstream/host_guards.hpp"

namespace reprise::net {

/// Each label's own value; of upstreams that share one, the worst. Any thread.
void set_gauges(observe::Metrics&, BudgetTable&, HostGuards&);

}  // namespace reprise::net
