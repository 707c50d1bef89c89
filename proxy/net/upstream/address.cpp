#include "proxy/net/upstream/address.hpp"

#include <algorithm>

#include "proxy/http/message/origin.hpp"

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

policy::UpstreamAddress as_address(const tcp::endpoint& endpoint) {
  policy::UpstreamAddress address;
  if (endpoint.port() == 0) return address;
  address.port = endpoint.port();
  const auto put = [&](policy::UpstreamAddress::Family family, const auto& bytes) {
    address.family = family;
    std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  };
  if (endpoint.address().is_v4()) {
    put(policy::UpstreamAddress::Family::v4, endpoint.address().to_v4().to_bytes());
  } else {
    put(policy::UpstreamAddress::Family::v6, endpoint.address().to_v6().to_bytes());
  }
  return address;
}

tcp::endpoint as_endpoint(const policy::UpstreamAddress& address) {
  if (address.family == policy::UpstreamAddress::Family::v4) {
    asio::ip::address_v4::bytes_type bytes{};
    std::copy_n(address.bytes.begin(), bytes.size(), bytes.begin());
    return {asio::ip::address_v4(bytes), address.port};
  }
  return {asio::ip::address_v6(address.bytes), address.port};
}

}  // namespace reprise::net
