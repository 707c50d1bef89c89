#include "proxy/upstream/address.hpp"

#include "proxy/http/origin.hpp"

namespace reprise::net {

asio::ip::address unmapped(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

bool is_loopback(const asio::ip::address& address) { return unmapped(address).is_loopback(); }

std::string address_text(const asio::ip::address& address) { return unmapped(address).to_string(); }

std::string endpoint_text(const tcp::endpoint& endpoint) {
  return http::authority_text(address_text(endpoint.address()), endpoint.port());
}

}  // namespace reprise::net
