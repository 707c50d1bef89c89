// Routes: which policy a request gets. The first match wins; a default route always does.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/match/match_index.hpp"
#include "proxy/policy/match/request_match.hpp"

namespace reprise::policy {

struct Route {
  std::string name;  ///< the `route` label
  Match match;
  RoutePolicy policy;
  std::size_t line = 0;     ///< in the file that `source` names, from 1; 0 for the built-in default
  std::string source = {};  ///< the preset that it comes from; empty: the configuration file
};

/// Immutable after construction; shared by all threads.
class RouteTable {
 public:
  /// `fallback` is the route of requests that no other route matches; its `match` is ignored.
  RouteTable(std::vector<Route> routes, Route fallback);

  /// Index of the first route that matches; the fallback has the last index.
  std::size_t find(const RequestView&) const;
  const Route& operator[](std::size_t index) const { return routes_[index]; }
  std::size_t size() const { return routes_.size(); }
  /// True if a route matches by host, so that the name that a client asks for can decide.
  bool asks_for_host() const;

 private:
  std::vector<Route> routes_;
  MatchIndex index_;
};

}  // namespace reprise::policy
