#include "config/preset_hosts.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/reader.hpp"

namespace reprise::config {
namespace {

bool is_wild(std::string_view host) { return host.starts_with("*."); }

// Returns true if the route's hosts are of the form `*.suffix`. Checks only the first host, because no route
// of a preset mixes exact hosts and `*.suffix`.
bool has_wild_hosts(const PresetRoute& shipped) {
  const Node* hosts = locate(*shipped.route, "match.hosts");
  return hosts != nullptr && !hosts->items.empty() && is_wild(hosts->items.front().text);
}

}  // namespace

PresetHosts::PresetHosts(std::vector<policy::HostPattern> given, const std::vector<PresetRoute>& shipped)
    : all_(std::move(given)) {
  for (const policy::HostPattern& host : all_) (is_wild(host.text) ? wild_ : exact_).push_back(host);
  by_kind_ = std::any_of(shipped.begin(), shipped.end(), has_wild_hosts) &&
             !std::all_of(shipped.begin(), shipped.end(), has_wild_hosts);
}

bool PresetHosts::put(policy::Match& match) const {
  if (all_.empty()) return true;
  const bool wild = !match.hosts.empty() && is_wild(match.hosts.front().text);
  match.hosts = !by_kind_ ? all_ : wild ? wild_ : exact_;
  return !match.hosts.empty();
}

}  // namespace reprise::config
