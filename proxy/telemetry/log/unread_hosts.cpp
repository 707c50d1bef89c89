#include "proxy/telemetry/log/unread_hosts.hpp"

#include <algorithm>

namespace reprise::telemetry {

bool UnreadHosts::count(std::string_view host_port, std::string_view intercept) {
  const std::scoped_lock lock(mutex_);
  if (const auto known = hosts_.find(host_port); known != hosts_.end()) {
    ++known->second.tunnels;
    return false;
  }
  if (hosts_.size() >= most_named) {
    ++other_;
    return false;
  }
  hosts_.emplace(host_port, UnreadHost{std::string(host_port), 1, std::string(intercept)});
  return true;
}

std::vector<UnreadHost> UnreadHosts::list(std::size_t most) const {
  std::vector<UnreadHost> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, host] : hosts_) all.push_back(host);
  std::stable_sort(all.begin(), all.end(), [](const UnreadHost& left, const UnreadHost& right) {
    return left.tunnels > right.tunnels;
  });
  std::uint64_t rest = other_;
  for (std::size_t i = most; i < all.size(); ++i) rest += all[i].tunnels;
  if (all.size() > most) all.resize(most);
  if (rest > 0) all.push_back({"other", rest, {}});
  return all;
}

}  // namespace reprise::telemetry
