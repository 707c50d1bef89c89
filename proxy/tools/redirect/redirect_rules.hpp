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

/// Settings of the packet filter rules.
struct Redirection {
  /// Address of the transparent listener for IPv4; absent if IPv4 connections are not redirected.
  std::optional<config::Endpoint> ipv4;
  std::optional<config::Endpoint> ipv6;  ///< transparent listener for IPv6; absent if IPv6 is not redirected
  std::string user;  ///< user that runs reprise; this user's connections are not redirected
  /// Networks to which connections are not redirected: loopback, link-local, and the networks to which
  /// reprise may not connect (`security.deny`).
  std::vector<std::string> left;
  std::vector<std::string> only_users;  ///< users whose connections are redirected; empty: all users
  std::vector<PortRange> ports;         ///< destination ports that are redirected; empty: all ports

  /// Returns true if connections of every user to every port are redirected.
  bool is_of_whole_host() const { return only_users.empty() && ports.empty(); }
};

/// Returns settings that redirect to the first transparent listener of each address family. Connections of an
/// address family without a transparent listener are not redirected.
Redirection redirection_of(const config::Settings&, std::string user);

/// Returns input for `nft -f -` that creates a separate table, or replaces the table if it exists.
std::string nft_rules(const Redirection&);
/// Returns input for `nft -f -` that removes the table, whether it exists or not.
std::string nft_removal();
/// Returns shell commands that create a separate chain in the table `nat` of each address family, or replace
/// the chain if it exists.
std::string iptables_rules(const Redirection&);
std::string iptables_removal();
/// Returns shell commands that remove the rules of nft and of iptables. The commands ignore rules that do not
/// exist and tools that are not installed.
std::string removal_of_both();

}  // namespace reprise::tools
