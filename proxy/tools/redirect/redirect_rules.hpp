// Packet filter rules that redirect a host's own TCP connections to transparent listeners, with exceptions.
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

/// Parses a list such as `80,443,8000-8099`. Returns the ranges in ascending order, with adjacent ones
/// joined. Returns nothing if an entry is empty or is neither a port nor a range.
std::optional<std::vector<PortRange>> parse_ports(std::string_view text);

/// The settings of the rules.
struct Redirection {
  std::optional<config::Endpoint>
      ipv4;  ///< address of the transparent listener for this family; absent if the family is not redirected
  std::optional<config::Endpoint> ipv6;
  std::string user;  ///< user that runs reprise; this user's connections are not redirected
  std::vector<std::string>
      left;  ///< networks that are not redirected: loopback, link-local, and those that are never dialled
  std::vector<std::string> only_users;  ///< users whose connections are redirected; empty: all users
  std::vector<PortRange> ports;         ///< destination ports that are redirected; empty: all ports

  /// Returns true if connections of every user to every port are redirected.
  bool is_of_whole_host() const { return only_users.empty() && ports.empty(); }
};

/// Returns the settings for the first transparent listener of each address family. Both listeners are absent
/// if there is none.
Redirection redirection_of(const config::Settings&, std::string user);

/// Returns input for `nft -f -` that creates a separate table, and replaces it if it exists.
std::string nft_rules(const Redirection&);
/// Returns input for `nft -f -` that removes the table, whether it exists or not.
std::string nft_removal();
/// Returns shell commands that create a separate chain in the table `nat` of each family, and replace it if
/// it exists.
std::string iptables_rules(const Redirection&);
std::string iptables_removal();
/// Returns shell commands that remove the rules of nft and of iptables. They do nothing for a tool that is
/// not installed.
std::string removal_of_both();

}  // namespace reprise::tools
