#include "proxy/server/process/gauges.hpp"

#include <functional>

#include "proxy/net/io/tick.hpp"

namespace reprise::server {

void set_gauges(telemetry::Metrics& metrics, net::BudgetTable& budgets, net::HostGuards& host_guards) {
  const auto gauge = [&metrics](auto& table, auto best, auto worse, const auto& set) {
    auto others = best;
    table.each(net::Tick::now(), [&](std::string_view host_port, auto value) {
      const std::string_view label = metrics.upstream_label(host_port);
      if (label != telemetry::other_upstreams) return set(label, value);
      if (worse(value, others)) others = value;
    });
    set(telemetry::other_upstreams, others);
  };
  gauge(budgets, 1.0, std::less<>(),
        [&metrics](std::string_view label, double ratio) { metrics.set_budget_ratio(label, ratio); });
  gauge(host_guards, policy::Circuit::State::closed, std::greater<>(),
        [&metrics](std::string_view label, policy::Circuit::State state) {
          metrics.set_circuit_state(label, state);
        });
}

}  // namespace reprise::server
