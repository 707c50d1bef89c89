#include "proxy/net/upstream/parent_exceptions.hpp"

#include <algorithm>

namespace reprise::net {

ParentExceptions::ParentExceptions(std::vector<std::string> texts) : texts_(std::move(texts)) {
  config::Deny networks{{}, false};
  for (const std::string& text : texts_) {
    if (text.find('/') != std::string::npos)
      networks.networks.push_back(text);
    else
      names_.push_back({text});
  }
  if (!networks.networks.empty()) networks_.emplace(networks, std::vector<tcp::endpoint>{});
}

bool ParentExceptions::contains(const std::string& host) const {
  const auto is_named = [&host](const policy::HostPattern& name) { return name.matches(host); };
  if (std::any_of(names_.begin(), names_.end(), is_named)) return true;
  return networks_ && networks_->judge_unresolved(host, 0) == AddressVerdict::denied;
}

}  // namespace reprise::net
