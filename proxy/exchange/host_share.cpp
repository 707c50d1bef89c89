#include "proxy/exchange/host_share.hpp"

namespace reprise::net {

policy::HostShare host_share(Worker& worker, const Request& request) {
  const policy::RoutePolicy& policy = *request.policy;
  policy::HostShare share;
  if (policy.mode == policy::Mode::off) return share;
  const bool active = policy.mode == policy::Mode::active;
  Upstream& upstream = *request.upstream;
  if (policy.budget)
    share.budget =
        worker.pool.budget(upstream, *policy.budget, active ? BudgetKind::real : BudgetKind::shadow);
  if (policy.circuit && active) share.circuit = worker.pool.circuit(upstream, *policy.circuit);
  if (policy.while_paused != policy::WhilePaused::go && active) share.pause = worker.pool.pause(upstream);
  return share;
}

}  // namespace reprise::net
