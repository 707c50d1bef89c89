#include "proxy/tools/redirect/redirect_rules.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "proxy/http/message/ascii.hpp"

namespace reprise::tools {
namespace {

using http::ascii::append;

constexpr std::string_view nft_fresh = "add table inet reprise\ndelete table inet reprise\n";

bool is_v6(std::string_view address) { return address.find(':') != std::string_view::npos; }

// Returns true if REDIRECT reaches the listener. REDIRECT sends this host's own connections to a loopback
// address. If the listener has another address, the rules need DNAT with that address.
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

std::string list_of(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) append(list, list.empty() ? "" : ", ", word);
  return list;
}

std::string range_text(const PortRange& range, std::string_view between) {
  std::string text = std::to_string(range.first);
  if (range.last != range.first) append(text, between, std::to_string(range.last));
  return text;
}

// Returns the nft expression that selects the users and ports to redirect. The expression lists users to
// redirect, not users to exclude: a packet without a socket has no user and must not be redirected.
std::string nft_choice(const Redirection& rules) {
  std::string text;
  if (!rules.only_users.empty()) append(text, "meta skuid { ", list_of(rules.only_users), " } ");
  if (rules.ports.empty()) return text.append("meta l4proto tcp ");
  std::vector<std::string> ports;
  std::transform(rules.ports.begin(), rules.ports.end(), std::back_inserter(ports),
                 [](const PortRange& range) { return range_text(range, "-"); });
  append(text, "tcp dport { ", list_of(ports), " } ");
  return text;
}

// Returns one iptables match for each combination of a user and a range of ports.
std::vector<std::string> iptables_choices(const Redirection& rules) {
  std::vector<std::string> users;
  for (const std::string& user : rules.only_users)
    users.push_back("-m owner --uid-owner " + user + " -p tcp ");
  if (users.empty()) users.emplace_back("-p tcp ");
  if (rules.ports.empty()) return users;
  std::vector<std::string> all;
  for (const std::string& user : users) {
    for (const PortRange& range : rules.ports)
      all.push_back(user + "--dport " + range_text(range, ":") + " ");
  }
  return all;
}

void add_nft_family(std::string& text, const Redirection& rules, bool v6) {
  const auto& listener = v6 ? rules.ipv6 : rules.ipv4;
  const std::string_view family = v6 ? "ip6" : "ip";
  if (!listener) return;
  append(text, "    ", family, " daddr { ", list_of(of_family(rules.left, v6)), " } return\n");
  append(text, "    meta nfproto ", v6 ? "ipv6" : "ipv4", " ", nft_choice(rules));
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
  // The exceptions are added first. If the redirections were added first, connections of reprise would be
  // redirected to reprise until the exceptions are added.
  for (const std::string& choice : iptables_choices(rules)) {
    append(text, command, "-A REPRISE ", choice);
    if (is_reached_by_redirect(*listener)) {
      append(text, "-j REDIRECT --to-ports ", std::to_string(listener->port), "\n");
    } else {
      append(text, "-j DNAT --to-destination ", v6 ? "[" + listener->address + "]" : listener->address, ":",
             std::to_string(listener->port), "\n");
    }
  }
  append(text, command, "-C OUTPUT -p tcp -j REPRISE 2>/dev/null || ", command,
         "-A OUTPUT -p tcp -j REPRISE\n");
}

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

std::vector<PortRange> joined(std::vector<PortRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const PortRange& left, const PortRange& right) { return left.first < right.first; });
  std::vector<PortRange> all;
  for (const PortRange& range : ranges) {
    if (!all.empty() && range.first <= all.back().last + 1) {
      all.back().last = std::max(all.back().last, range.last);
    } else {
      all.push_back(range);
    }
  }
  return all;
}

}  // namespace

std::optional<std::vector<PortRange>> parse_ports(std::string_view text) {
  std::vector<PortRange> ranges;
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = text.find(',');
    const std::string_view entry = text.substr(0, comma);
    is_last = comma == std::string_view::npos;
    if (!is_last) text.remove_prefix(comma + 1);
    const std::size_t dash = entry.find('-');
    const auto first = port_of(entry.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : port_of(entry.substr(dash + 1));
    if (!first || !last || *first > *last) return std::nullopt;
    ranges.push_back({*first, *last});
  }
  return joined(std::move(ranges));
}

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

std::string removal_of_both() {
  std::string text = "PATH=$PATH:/usr/sbin:/sbin\nnft delete table inet reprise 2>/dev/null || true\n";
  return text.append(iptables_removal());
}

}  // namespace reprise::tools
