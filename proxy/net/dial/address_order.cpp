#include "proxy/net/dial/address_order.hpp"

#include <algorithm>

#include "proxy/net/upstream/address.hpp"

namespace reprise::net {
namespace {

void rotate_family(std::vector<tcp::endpoint>& endpoints, bool v4, unsigned turn) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < endpoints.size(); ++i)
    if (endpoints[i].address().is_v4() == v4) places.push_back(i);
  const std::vector<tcp::endpoint> before = endpoints;
  for (std::size_t i = 0; i < places.size(); ++i)
    endpoints[places[i]] = before[places[(i + turn) % places.size()]];
}

}  // namespace

void arrange(std::vector<tcp::endpoint>& endpoints, const AddressOrder& order) {
  for (const bool v4 : {true, false}) rotate_family(endpoints, v4, order.turn);
  std::stable_partition(endpoints.begin(), endpoints.end(), [&](const tcp::endpoint& each) {
    const auto& tried = order.tried;
    return (std::find(tried.begin(), tried.end(), as_address(each)) != tried.end()) == order.tried_first;
  });
}

}  // namespace reprise::net
