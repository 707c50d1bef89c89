// Reads how this host looks up names: the sources and their order, timeouts, and search domains.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::net {

/// Paths of the host's files. Tests use other files.
struct NameFiles {
  std::string resolv = "/etc/resolv.conf";     ///< resolv.conf(5)
  std::string sources = "/etc/nsswitch.conf";  ///< nsswitch.conf(5)
  std::uint16_t port = 53;                     ///< port of the name servers
};

/// The line `hosts:` of nsswitch.conf(5).
struct HostsLine {
  std::string order = "fb";  ///< f: /etc/hosts, b: DNS; this default applies if the line is absent
  bool others = false;       ///< the line has sources that only the C library can query
  bool myhostname = false;   ///< nss-myhostname(8): knows this host's own name
};
/// Reads the line `hosts:`. Ignores actions in brackets, so the next source is always asked if the previous
/// sources do not know the name. The source `resolve` (systemd-resolved) counts as DNS and also sets
/// `others`.
HostsLine read_hosts_line(std::string_view text);

/// Returns true if the C library must be asked for a name that neither /etc/hosts nor DNS knows.
bool is_for_others(const HostsLine&, std::string_view name, std::string_view own_name);

/// How name servers are asked, and how long to wait for them.
struct LookupOptions {
  std::chrono::milliseconds first{1000};  ///< first timeout; doubled for each round over the servers
  int rounds = 3;
  bool one_server = true;  ///< there is only one name server
  bool over_tcp = false;   ///< every query is sent over TCP
  bool ipv4_only = false;  ///< IPv6 addresses are not looked up
};
/// Reads the lines `options` of resolv.conf(5): `timeout:` (at most 30 s), `attempts:` (at most 5), `use-vc`
/// and `no-aaaa`. If an option is repeated, its last value counts. `environment`: the value of RES_OPTIONS,
/// which overrides the file.
LookupOptions read_lookup_options(std::string_view text, std::string_view environment);

/// Returns the names to ask DNS for, in order, by the rules of `search` and `ndots` in resolv.conf(5).
std::vector<std::string> names_to_ask(std::string_view name, const std::vector<std::string>& domains,
                                      int ndots);

}  // namespace reprise::net
