#include "proxy/policy/decision/route.hpp"

#include <algorithm>
#include <utility>

namespace reprise::policy {

RouteTable::RouteTable(std::vector<Route> routes, Route fallback) : routes_(std::move(routes)) {
  for (const Route& route : routes_) index_.add(route.match);
  routes_.push_back(std::move(fallback));
  call_policies_.reserve(routes_.size());
  for (const Route& route : routes_) call_policies_.push_back(policy_of_calls(route.policy));
}

std::size_t RouteTable::find(const RequestView& request) const {
  return index_.find(request, [this](std::size_t i) -> const Match& { return routes_[i].match; });
}

bool RouteTable::asks_for_host() const {
  return std::any_of(routes_.begin(), routes_.end(), [](const Route& route) {
    return !route.match.host.text.empty() || !route.match.hosts.empty();
  });
}

}  // namespace reprise::policy
