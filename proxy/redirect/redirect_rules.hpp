// The rules of a packet filter that send a host's own TCP connections to transparent listeners, except those
// that must not go there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"

namespace reprise::redirect {

/// What rules are made of.
struct Redirection {
  std::optional<config::Endpoint>
      ipv4;  ///< the transparent listener of that family; absent: it is left alone
  std::optional<config::Endpoint> ipv6;
  std::string user;  ///< whose connections are left alone: the one that reprise runs as
  std::vector<std::string>
      left;  ///< networks that are left alone: loopback, link-local, what is never dialled
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

}  // namespace reprise::redirect
