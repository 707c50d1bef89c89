// Routes: select the policy of a request. The first match wins; the default route always matches.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/match/match_index.hpp"
#include "proxy/policy/match/request_match.hpp"

namespace reprise::policy {

struct Route {
  std::string name;  ///< value of the `route` label
  Match match;
  RoutePolicy policy;
  std::size_t line = 0;  ///< line in the file that `source` names, counted from 1; 0 for the built-in default
  std::string source = {};  ///< preset that the route comes from; empty for the configuration file
};

/// The routes of one configuration. Immutable after construction; shared by all threads.
class RouteTable {
 public:
  /// `fallback` is the route of requests that no other route matches; its `match` is ignored.
  RouteTable(std::vector<Route> routes, Route fallback);

  /// Returns the index of the first route that matches. The fallback has the last index.
  std::size_t find(const RequestView&) const;
  const Route& operator[](std::size_t index) const { return routes_[index]; }
  /// Returns the policy of the route for that request: gRPC calls have other time limits.
  const RoutePolicy& policy_for(std::size_t index, const RequestView& request) const {
    return request.is_call ? call_policies_[index] : routes_[index].policy;
  }
  std::size_t size() const { return routes_.size(); }
  /// Returns true if any route matches by host. Then the server name (SNI) of a client can decide the route.
  bool asks_for_host() const;

 private:
  std::vector<Route> routes_;
  std::vector<RoutePolicy> call_policies_;  ///< in the order of `routes_`
  MatchIndex index_;
};

}  // namespace reprise::policy
