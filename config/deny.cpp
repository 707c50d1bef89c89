#include "config/deny.hpp"

#include <algorithm>

#include "config/keys/address.hpp"
#include "config/reader.hpp"

namespace reprise::config {
namespace {

// Returns true if the network `wide` contains `narrow`. Precondition: both texts come from parse_network.
bool covers(const std::string& wide, const std::string& narrow) {
  const std::size_t slash = wide.find('/');
  const Parsed<std::string> whole = parse_network(narrow);
  const int prefix = std::stoi(wide.substr(slash + 1));
  if (!whole || std::stoi(narrow.substr(narrow.find('/') + 1)) < prefix) return false;
  // The network that contains `narrow` and has the prefix length of `wide`. If `narrow` has set bits after
  // that prefix, parse_network rejects the text and suggests this network.
  const auto around = parse_network(narrow.substr(0, narrow.find('/')) + wide.substr(slash));
  return wide == (around ? *around.value : around.suggestion);
}

std::string meaning(const std::string& network) {
  if (network.starts_with("169.254.")) return "cloud metadata and link-local addresses";
  if (network.starts_with("100.100.")) return "cloud metadata of Alibaba Cloud";
  if (network.starts_with("192.0.0.")) return "cloud metadata of Oracle Cloud";
  return network.starts_with("fe80:") ? "IPv6 link-local addresses" : "cloud metadata over IPv6";
}

}  // namespace

void check_deny(const Node& root, const Deny& deny, Report& report) {
  const Node* list = locate(root, "security.deny");
  if (list == nullptr || list->kind != Node::Kind::list || report.refused_under("security.deny")) return;
  std::string open;
  const auto add = [&](const std::string& entry, const std::string& what) {
    open.append(open.empty() ? "" : ", ").append(entry).append(" (").append(what).append(")");
  };
  const Deny standard;
  for (const std::string& network : standard.networks) {
    const auto covered = [&](const std::string& listed) { return covers(listed, network); };
    if (std::none_of(deny.networks.begin(), deny.networks.end(), covered)) add(network, meaning(network));
  }
  if (!deny.self) add("self", "the proxy's own listeners");
  if (open.empty()) return;
  report.warning(list->line, list->column, "security.deny",
                 "this list replaces the default list, so these default entries may now be dialled: " + open +
                     "; add those that must not be dialled");
}

}  // namespace reprise::config
