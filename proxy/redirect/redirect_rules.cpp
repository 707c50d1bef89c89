#include "proxy/redirect/redirect_rules.hpp"

#include <algorithm>

#include "proxy/http/ascii.hpp"

namespace reprise::redirect {
namespace {

using http::ascii::append;

constexpr std::string_view nft_fresh = "add table inet reprise\ndelete table inet reprise\n";

bool is_v6(std::string_view address) { return address.find(':') != std::string_view::npos; }

// REDIRECT sends what this host makes to loopback; an address of its own has to be named.
bool is_reached_by_redirect(const config::Endpoint& listener) {
  return listener.address.starts_with("127.") || listener.address == "::1" || listener.address == "0.0.0.0" ||
         listener.address == "::";
}

std::vector<std::string> of_family(const std::vector<std::string>& networks, bool v6) {
  std::vector<std::string> chosen;
  std::copy_if(networks.begin(), networks.end(), std::back_inserter(chosen),
               [v6](const std::string& network) { return is_v6(network) == v6; });
  return chosen;
}

void add_nft_family(std::string& text, const Redirection& rules, bool v6) {
  const auto& listener = v6 ? rules.ipv6 : rules.ipv4;
  const std::string_view family = v6 ? "ip6" : "ip";
  if (!listener) return;
  std::string list;
  for (const std::string& network : of_family(rules.left, v6))
    append(list, list.empty() ? "" : ", ", network);
  append(text, "    ", family, " daddr { ", list, " } return\n");
  append(text, "    meta nfproto ", v6 ? "ipv6" : "ipv4", " meta l4proto tcp ");
  if (is_reached_by_redirect(*listener)) {
    append(text, "redirect to :", std::to_string(listener->port), "\n");
  } else {
    append(text, "dnat ", family, " to ", v6 ? "[" + listener->address + "]" : listener->address, ":",
           std::to_string(listener->port), "\n");
  }
}

void add_iptables_family(std::string& text, const Redirection& rules, bool v6) {
  const auto& listener = v6 ? rules.ipv6 : rules.ipv4;
  if (!listener) return;
  const std::string command = std::string(v6 ? "ip6tables" : "iptables") + " -w -t nat ";
  append(text, command, "-N REPRISE 2>/dev/null || ", command, "-F REPRISE\n");
  append(text, command, "-A REPRISE -m owner --uid-owner ", rules.user, " -j RETURN\n");
  append(text, command, "-A REPRISE -o lo -j RETURN\n");
  for (const std::string& network : of_family(rules.left, v6))
    append(text, command, "-A REPRISE -d ", network, " -j RETURN\n");
  // Last, so that nothing goes round while the chain is filled.
  if (is_reached_by_redirect(*listener)) {
    append(text, command, "-A REPRISE -p tcp -j REDIRECT --to-ports ", std::to_string(listener->port), "\n");
  } else {
    append(text, command, "-A REPRISE -p tcp -j DNAT --to-destination ",
           v6 ? "[" + listener->address + "]" : listener->address, ":", std::to_string(listener->port), "\n");
  }
  append(text, command, "-C OUTPUT -p tcp -j REPRISE 2>/dev/null || ", command,
         "-A OUTPUT -p tcp -j REPRISE\n");
}

}  // namespace

Redirection redirection_of(const config::Settings& settings, std::string user) {
  Redirection rules;
  rules.user = std::move(user);
  for (const config::Listener& listener : settings.listeners) {
    if (listener.mode != config::ListenerMode::transparent) continue;
    auto& place = is_v6(listener.bind.address) ? rules.ipv6 : rules.ipv4;
    if (!place) place = listener.bind;
  }
  rules.left = {"127.0.0.0/8", "169.254.0.0/16", "::1/128", "fe80::/10"};
  for (const std::string& network : settings.security.deny.networks) {
    if (std::find(rules.left.begin(), rules.left.end(), network) == rules.left.end())
      rules.left.push_back(network);
  }
  return rules;
}

std::string nft_rules(const Redirection& rules) {
  std::string text(nft_fresh);
  append(text,
         "table inet reprise {\n  chain output {\n    type nat hook output priority -100; policy accept;\n");
  append(text, "    meta skuid ", rules.user, " return\n    oifname \"lo\" return\n");
  add_nft_family(text, rules, false);
  add_nft_family(text, rules, true);
  return text.append("  }\n}\n");
}

std::string nft_removal() { return std::string(nft_fresh); }

std::string iptables_rules(const Redirection& rules) {
  std::string text;
  add_iptables_family(text, rules, false);
  add_iptables_family(text, rules, true);
  return text;
}

std::string iptables_removal() {
  std::string text;
  for (const std::string_view program : {"iptables", "ip6tables"}) {
    for (const std::string_view rest : {"-D OUTPUT -p tcp -j REPRISE", "-F REPRISE", "-X REPRISE"})
      append(text, program, " -w -t nat ", rest, " 2>/dev/null || true\n");
  }
  return text;
}

}  // namespace reprise::redirect
