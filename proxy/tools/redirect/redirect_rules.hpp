// The rules of a packet filter that send a host's own TCP connections to transparent listeners, except those
// that must not go there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace reprise::tools {

/// Ports from `first` to `last`, both included.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};

/// Reads a list such as `80,443,8000-8099`. Returns the ranges in order, joined where they touch; none if an
/// entry is no port, no range, or missing.
std::optional<std::vector<PortRange>> parse_ports(std::string_view text);

/// What rules are made of.
struct Redirection {
  std::optional<config::Endpoint>
      ipv4;  ///< the transparent listener of that family; absent: it is left alone
  std::optional<config::Endpoint> ipv6;
  std::string user;  ///< whose connections are left alone: the one that reprise runs as
  std::vector<std::string>
      left;  ///< networks that are left alone: loopback, link-local, what is never dialled
  std::vector<std::string> only_users;  ///< users whose connections are redirected; empty: all users
  std::vector<PortRange> ports;         ///< destination ports that are redirected; empty: all ports

  /// True if connections of every user to every port are redirected.
  bool is_of_whole_host() const { return only_users.empty() && ports.empty(); }
};

/// Of the first transparent listener of each family. Both are absent where there is none.
Redirection redirection_of(const config::Settings&, std::string user);

/// For `nft -f -`: one table of its own, in place of one that is there.
std::string nft_rules(const Redirection&);
/// For `nft -f -`: the table is gone, whether it was there or not.
std::string nft_removal();
/// Commands for a shell: one chain of their own in each table `nat`, in place of one that is there.
std::string iptables_rules(const Redirection&);
std::string iptables_removal();
/// Commands for a shell that remove the rules of both, and do nothing for a tool that is not installed.
std::string removal_of_both();

}  // namespace reprise::tools
