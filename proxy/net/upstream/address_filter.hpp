// Decides which addresses are never dialled: networks under security.deny, and the proxy's own listeners.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/net/io/task.hpp"

namespace reprise::net {

/// Result of judging an address.
enum class AddressVerdict : std::uint8_t { allowed, denied, self };

/// Judges resolved addresses at every dial. Immutable once the listeners are bound, and shared by all
/// threads.
class AddressFilter {
 public:
  /// `own`: the bound endpoints of every listener, including admin.
  AddressFilter(const config::Deny&, std::vector<tcp::endpoint> own);

  /// Judges an address and every address that it may lead to:
  /// - an IPv4 address that is embedded in an IPv6 address is judged as that IPv4 address too (rows H1, L31).
  ///   The forms are: mapped, compatible, NAT64 with either prefix and every prefix length of RFC 6052, SIIT,
  ///   6to4, ISATAP, and Teredo's client address;
  /// - an unspecified address is judged as loopback of both families too, because connect(2) treats it as
  ///   loopback (row H4);
  /// - a zone (`::1%2`) is ignored.
  AddressVerdict judge(const tcp::endpoint&) const;
  /// Judges a host that is written as an address, in any spelling (row H2). Allows every host name. Used for
  /// hosts that a parent proxy resolves.
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
