#include "proxy/forward/exchange/host_share.hpp"

#include "proxy/policy/decision/gates.hpp"

namespace reprise::forward {

policy::HostShare host_share(Worker& worker, const Route& route) {
  const policy::RoutePolicy& policy = *route.policy;
  const policy::HostParts parts = policy::host_parts(policy);
  const net::BudgetKind kind =
      policy.mode == policy::Mode::active ? net::BudgetKind::real : net::BudgetKind::shadow;
  net::Upstream& upstream = *route.upstream;
  policy::HostShare share;
  if (parts.budget) share.budget = worker.pool.budget(upstream, *policy.budget, kind);
  if (parts.circuit) share.circuit = worker.pool.circuit(upstream, *policy.circuit);
  if (parts.pause) share.pause = worker.pool.pause(upstream);
  return share;
}

}  // namespace reprise::forward
