#include "proxy/policy/route.hpp"

#include <utility>

namespace reprise::policy {

RouteTable::RouteTable(std::vector<Route> routes, Route fallback) : routes_(std::move(routes)) {
  for (const Route& route : routes_) index_.add(route.match);
  routes_.push_back(std::move(fallback));
}

std::size_t RouteTable::find(const RequestView& request) const {
  return index_.find(request, [this](std::size_t i) -> const Match& { return routes_[i].match; });
}

}  // namespace reprise::policy
