// What the files of a host say of looking up names: which sources, in what order, how long, and which names
// stand for a short one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::net {

/// Where a host keeps it; tests have files of their own.
struct NameFiles {
  std::string resolv = "/etc/resolv.conf";     ///< resolv.conf(5)
  std::string sources = "/etc/nsswitch.conf";  ///< nsswitch.conf(5)
  std::uint16_t port = 53;                     ///< of the name servers
};

/// The line `hosts:` of nsswitch.conf(5).
struct HostsLine {
  std::string order = "fb";  ///< f: /etc/hosts, b: DNS; without the line as here
  bool others = false;       ///< there are sources that only the C library can ask
  bool myhostname = false;   ///< nss-myhostname(8): knows this host's own name
};
/// Actions in brackets are passed over: whatever they say, a later source is asked when the ones before it do
/// not know the name. `resolve` (systemd-resolved) counts as DNS and as one of the others.
HostsLine read_hosts_line(std::string_view text);

/// Whether the C library is to be asked for a name that neither file nor DNS know.
bool is_for_others(const HostsLine&, std::string_view name, std::string_view own_name);

/// How name servers are asked, and how long they are waited for.
struct Patience {
  std::chrono::milliseconds first{1000};  ///< doubled for each round of the servers
  int rounds = 3;
  bool one_server = true;  ///< there is no other to be asked in its place
  bool over_tcp = false;   ///< from the first question on
  bool ipv4_only = false;  ///< no question for IPv6 addresses
};
/// `timeout:` and `attempts:` of the lines `options`, at most 30 s and 5 as in resolv.conf(5); the last one
/// counts. `use-vc` and `no-aaaa`. `environment`: RES_OPTIONS, which comes after the file.
Patience read_patience(std::string_view text, std::string_view environment);

/// The names to ask DNS for in the place of `name`, in order: as resolv.conf(5) says of `search` and `ndots`.
std::vector<std::string> names_to_ask(std::string_view name, const std::vector<std::string>& domains,
                                      int ndots);

}  // namespace reprise::net
