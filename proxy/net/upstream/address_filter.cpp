#include "proxy/net/upstream/address_filter.hpp"
#include "proxy/net/upstream/address.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

namespace reprise::net {
namespace {

using asio::ip::address;
using asio::ip::address_v4;
using asio::ip::address_v6;
using Bytes = address_v6::bytes_type;

constexpr unsigned v4_offset_bits = 96;

// Returns the address as 16 bytes. An IPv4 address is returned in its IPv4-mapped form, so that one list can
// hold both families.
Bytes as_v6(const address& ip) {
  if (ip.is_v6()) return ip.to_v6().to_bytes();
  return asio::ip::make_address_v6(asio::ip::v4_mapped, ip.to_v4()).to_bytes();
}

address_v4 v4_at(const Bytes& bytes, std::size_t offset) {
  return address_v4(
      address_v4::bytes_type{bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3]});
}

bool starts_with(const Bytes& bytes, std::initializer_list<unsigned> prefix) {
  return std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

// All addresses that a dialled address may lead to: the address itself, the IPv4 addresses that it embeds,
// and loopback for an unspecified address.
struct Meanings {
  explicit Meanings(const address& ip) : all{ip} {}
  void add(const address& ip) { all[count++] = ip; }

  std::array<address, 6> all;  ///< at most 6: the address itself, four for RFC 8215, and one for ISATAP
  std::size_t count = 1;
};

// Returns the IPv4 address that is embedded behind a known prefix. An IPv6 address has at most one such
// prefix. The IPv4-mapped form needs no case here, because IPv4 addresses are always compared in that form.
std::optional<address_v4> embedded_by_prefix(const Bytes& bytes) {
  constexpr std::size_t last = 12;
  if (starts_with(bytes, {0x20, 0x02})) return v4_at(bytes, 2);  // 6to4, RFC 3056
  if (starts_with(bytes, {0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) return v4_at(bytes, last);
  if (starts_with(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0})) return v4_at(bytes, last);  // SIIT
  // Teredo (RFC 4380): the client's address is in the last four bytes, with every bit inverted.
  if (starts_with(bytes, {0x20, 0x01, 0, 0})) return address_v4(~v4_at(bytes, last).to_uint());
  const bool compatible = starts_with(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  // The addresses :: and ::1 embed no IPv4 address.
  if (compatible && v4_at(bytes, last).to_uint() > 1) return v4_at(bytes, last);
  return std::nullopt;
}

// Returns the IPv4 address in an ISATAP address (RFC 5214). Only the interface identifier is compared,
// because an ISATAP address may have any prefix. The universal bit may be set or clear.
std::optional<address_v4> embedded_by_interface(const Bytes& bytes) {
  const bool isatap = (bytes[8] & 0xfdU) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe;
  return isatap ? std::optional(v4_at(bytes, 12)) : std::nullopt;
}

// Adds the IPv4 addresses that an address in 64:ff9b:1::/48 (RFC 8215) may embed. That network contains
// translator prefixes of any length from 48 bits on. The length determines the position of the IPv4 address
// (RFC 6052 2.2). Only the network operator knows the length, so the IPv4 address is read at every position
// (split). Byte 8 never belongs to the IPv4 address. A split that gives an address in 0.0.0.0/8 is skipped:
// these zeros belong to a longer prefix, and no translator forwards to such an address.
void add_translated(const Bytes& bytes, Meanings& found) {
  if (!starts_with(bytes, {0x00, 0x64, 0xff, 0x9b, 0, 1})) return;
  found.add(v4_at(bytes, 12));
  constexpr std::array<std::array<std::size_t, 4>, 3> splits{
      {{6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}}};
  for (const auto& at : splits) {
    if (bytes[at[0]] == 0) continue;
    found.add(address_v4(address_v4::bytes_type{bytes[at[0]], bytes[at[1]], bytes[at[2]], bytes[at[3]]}));
  }
}

// Returns all addresses that a dialled address may lead to. connect(2) treats an unspecified address as
// loopback. The family of the listening socket decides which of the two loopback addresses responds.
Meanings meanings(const address& ip) {
  Meanings found(ip);
  if (ip.is_unspecified()) {
    found.add(address_v4::loopback());
    found.add(address_v6::loopback());
  }
  if (!ip.is_v6()) return found;
  const Bytes bytes = ip.to_v6().to_bytes();
  if (const auto inner = embedded_by_prefix(bytes)) found.add(*inner);
  if (const auto inner = embedded_by_interface(bytes)) found.add(*inner);
  add_translated(bytes, found);
  return found;
}

// Removes the zone, which the kernel uses only for link-local addresses: `::1%2` is `::1`.
address without_zone(const address& ip) {
  return ip.is_v6() ? address(address_v6(ip.to_v6().to_bytes())) : ip;
}

std::vector<address> interface_addresses() {
  std::vector<address> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    tcp::endpoint endpoint;
    const bool v4 = entry->ifa_addr->sa_family == AF_INET;
    if (!v4 && entry->ifa_addr->sa_family != AF_INET6) continue;
    const std::size_t bytes = v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(endpoint.data(), entry->ifa_addr, bytes);
    endpoint.resize(bytes);
    found.push_back(endpoint.address());
  }
  return found;
}

}  // namespace

AddressFilter::AddressFilter(const config::Deny& deny, std::vector<tcp::endpoint> own)
    : own_(std::move(own)) {
  for (const std::string& text : deny.networks) {
    const std::size_t slash = text.find('/');
    const address ip = asio::ip::make_address(text.substr(0, slash));
    unsigned bits = ip.is_v4() ? 32 : 128;
    if (slash != std::string::npos) std::from_chars(text.data() + slash + 1, text.data() + text.size(), bits);
    networks_.push_back({as_v6(ip), ip.is_v4() ? bits + v4_offset_bits : bits});
  }
  if (!deny.self) own_.clear();
  local_ = interface_addresses();
}

bool AddressFilter::contains(const Network& network, const Bytes& bytes) {
  const std::size_t whole = network.bits / 8;
  if (!std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(whole), network.prefix.begin()))
    return false;
  const unsigned rest = network.bits % 8;
  if (rest == 0) return true;
  const unsigned mask = (0xffU << (8U - rest)) & 0xffU;
  return (bytes[whole] & mask) == (network.prefix[whole] & mask);
}

bool AddressFilter::is_denied(const address& ip) const {
  const Bytes bytes = as_v6(ip);
  return std::any_of(networks_.begin(), networks_.end(),
                     [&](const Network& network) { return contains(network, bytes); });
}

bool AddressFilter::is_self(const address& ip, std::uint16_t port) const {
  return std::any_of(own_.begin(), own_.end(), [&](const tcp::endpoint& listener) {
    if (listener.port() != port) return false;
    if (ip.is_unspecified() || unmapped(listener.address()) == ip) return true;
    if (!listener.address().is_unspecified()) return false;
    return ip.is_loopback() || std::find(local_.begin(), local_.end(), ip) != local_.end();
  });
}

AddressVerdict AddressFilter::judge(const tcp::endpoint& endpoint) const {
  const Meanings meant = meanings(unmapped(without_zone(endpoint.address())));
  const auto any = [&meant](auto holds) {
    return std::any_of(meant.all.begin(), meant.all.begin() + meant.count, holds);
  };
  if (any([this](const address& ip) { return is_denied(ip); })) return AddressVerdict::denied;
  if (any([&](const address& ip) { return is_self(ip, endpoint.port()); })) return AddressVerdict::self;
  return AddressVerdict::allowed;
}

AddressVerdict AddressFilter::judge_unresolved(const std::string& host, std::uint16_t port) const {
  ErrorCode not_a_literal;
  const auto literal = asio::ip::make_address(host, not_a_literal);
  if (!not_a_literal) return judge({literal, port});
  // A resolver also reads spellings such as 2852039166, 0xa9fea9fe or 0251.0376.0251.0376 as addresses
  // (inet_aton(3)).
  const std::string bare = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
  in_addr address{};
  if (::inet_aton(bare.c_str(), &address) == 0) return AddressVerdict::allowed;
  return judge({asio::ip::address_v4(ntohl(address.s_addr)), port});
}

}  // namespace reprise::net
