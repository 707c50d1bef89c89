#include "proxy/server/process/labels.hpp"

#include <algorithm>

#include "proxy/policy/match/ascii.hpp"

namespace reprise::server {

std::vector<std::string> route_names(const policy::RouteTable& routes) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < routes.size(); ++i) names.push_back(routes[i].name);
  return names;
}

telemetry::UpstreamLabels labels_of(const config::Settings& settings) {
  telemetry::UpstreamLabels labels{{}, settings.limits.labelled_upstreams, settings.limits.upstreams};
  std::vector<std::string>& hosts = labels.configured;
  for (std::size_t i = 0; i < settings.routes->size(); ++i) {
    const policy::Match& match = (*settings.routes)[i].match;
    std::vector<policy::HostPattern> patterns = match.hosts;
    patterns.push_back(match.host);
    for (const policy::HostPattern& host : patterns) {
      const bool known = std::find(hosts.begin(), hosts.end(), host.text) != hosts.end();
      if (!known && !host.text.empty() && !host.text.starts_with("*")) hosts.push_back(host.text);
    }
  }
  for (const auto& listener : settings.listeners) {
    if (config::has_own_upstream(listener.mode)) hosts.push_back(policy::lower(listener.upstream.host));
  }
  return labels;
}

}  // namespace reprise::server
