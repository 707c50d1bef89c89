#include "proxy/net/host_share.hpp"

namespace reprise::net {

policy::HostShare host_share(Loop& loop, const Request& request) {
  const policy::RoutePolicy& policy = *request.policy;
  policy::HostShare share;
  if (policy.mode == policy::Mode::off) return share;
  const bool active = policy.mode == policy::Mode::active;
  Upstream& upstream = *request.upstream;
  if (policy.budget)
    share.budget = loop.pool.budget(upstream, *policy.budget, active ? Purse::real : Purse::shadow);
  if (policy.circuit && active) share.circuit = loop.pool.circuit(upstream, *policy.circuit);
  if (policy.while_paused != policy::WhilePaused::go && active) share.pause = loop.pool.pause(upstream);
  return share;
}

}  // namespace reprise::net
