// Addresses that are never dialled: networks under security.deny, and the proxy's own listeners.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/net/io/task.hpp"

namespace reprise::net {

/// What may be done with an address.
enum class AddressVerdict : std::uint8_t { allowed, denied, self };

/// Immutable once the listeners are bound; shared by all threads. Judges resolved addresses, at every dial.
class AddressFilter {
 public:
  /// `own`: the bound endpoints of every listener, admin included.
  AddressFilter(const config::Deny&, std::vector<tcp::endpoint> own);

  /// An IPv4 address inside an IPv6 one (mapped, compatible, NAT64 of both prefixes in every split of RFC
  /// 6052, SIIT, 6to4, ISATAP, the client's of Teredo) is judged as that IPv4 address too (rows H1, L31).
  /// An unspecified address is judged as loopback of both families too: connect(2) takes it for loopback
  /// (row H4). A zone (`::1%2`) is ignored.
  AddressVerdict judge(const tcp::endpoint&) const;
  /// A host that is written as an address, in whatever spelling (row H2): what a parent proxy gets is
  /// resolved by nobody here. A name is allowed.
  AddressVerdict judge_unresolved(const std::string& host, std::uint16_t port) const;

 private:
  struct Network {
    asio::ip::address_v6::bytes_type prefix{};
    unsigned bits = 0;
  };

  static bool contains(const Network&, const asio::ip::address_v6::bytes_type&);
  bool is_denied(const asio::ip::address&) const;
  bool is_self(const asio::ip::address&, std::uint16_t port) const;

  std::vector<Network> networks_;
  std::vector<tcp::endpoint> own_;
  std::vector<asio::ip::address> local_;  ///< addresses of this host's interfaces, for wildcard listeners
};

}  // namespace reprise::net
