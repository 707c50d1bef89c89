// Tests the order in which the addresses of a name are dialled, without sockets or a clock.
#include "proxy/net/dial/address_order.hpp"

#include <gtest/gtest.h>

#include <string>

#include "proxy/net/upstream/address.hpp"

namespace reprise::net::address_order_test {
namespace {

tcp::endpoint at(const std::string& address) { return {asio::ip::make_address(address), 80}; }

/// Arranges the addresses and returns the last character of each.
std::string order_of(std::initializer_list<const char*> addresses, const AddressOrder& order) {
  std::vector<tcp::endpoint> endpoints;
  for (const char* each : addresses) endpoints.push_back(at(each));
  arrange(endpoints, order);
  std::string said;
  for (const tcp::endpoint& each : endpoints) said += each.address().to_string().back();
  return said;
}

std::string of_one_family(const AddressOrder& order) {
  return order_of({"10.0.0.1", "10.0.0.2", "10.0.0.3"}, order);
}

TEST(AddressOrder, N2_successive_rotations_start_with_successive_addresses_of_a_name) {
  EXPECT_EQ(of_one_family({0}), "123");
  EXPECT_EQ(of_one_family({1}), "231");
  EXPECT_EQ(of_one_family({2}), "312");
  EXPECT_EQ(of_one_family({3}), "123");
}

TEST(AddressOrder, N2_rotation_keeps_the_positions_of_ipv4_and_ipv6_addresses) {
  const auto of_two = [](unsigned turn) {
    return order_of({"::a", "10.0.0.1", "::b", "10.0.0.2", "10.0.0.3"}, {turn});
  };
  EXPECT_EQ(of_two(0), "a1b23");
  EXPECT_EQ(of_two(1), "b2a31");
  EXPECT_EQ(of_two(2), "a3b12");
}

TEST(AddressOrder, N1_retry_dials_addresses_of_earlier_attempts_last) {
  const policy::UpstreamAddress first = as_address(at("10.0.0.1"));
  const policy::UpstreamAddress both[] = {first, as_address(at("10.0.0.3"))};
  EXPECT_EQ(of_one_family({0, {&first, 1}}), "231");
  EXPECT_EQ(of_one_family({2, {&first, 1}}), "321");
  EXPECT_EQ(of_one_family({0, both}), "213");
}

TEST(AddressOrder, N1_resume_starts_with_the_address_that_sent_the_body) {
  const policy::UpstreamAddress second = as_address(at("10.0.0.2"));
  EXPECT_EQ(of_one_family({2, {&second, 1}, true}), "231");
}

}  // namespace
}  // namespace reprise::net::address_order_test
