// Tests that the address families alternate, and that the addresses of each family keep the resolver's order.
#include "proxy/net/resolve/interleave.hpp"

#include <gtest/gtest.h>

#include <string>

namespace reprise::net {
namespace {

std::string interleave(std::initializer_list<const char*> texts, std::size_t most = 16) {
  std::vector<asio::ip::address> found;
  for (const char* text : texts) found.push_back(asio::ip::make_address(text));
  std::string joined;
  for (const auto& address : interleaved(found, most)) joined += address.to_string() + " ";
  return joined;
}

TEST(Interleave, D12_address_families_alternate_beginning_with_the_first) {
  EXPECT_EQ(interleave({"::1", "::2", "1.0.0.1", "1.0.0.2"}), "::1 1.0.0.1 ::2 1.0.0.2 ");
  EXPECT_EQ(interleave({"1.0.0.1", "1.0.0.2", "::1", "::2"}), "1.0.0.1 ::1 1.0.0.2 ::2 ");
  EXPECT_EQ(interleave({"1.0.0.1", "::1", "::2", "1.0.0.2"}), "1.0.0.1 ::1 1.0.0.2 ::2 ");
}

TEST(Interleave, D12_remaining_addresses_of_one_family_keep_their_order) {
  EXPECT_EQ(interleave({"::1", "1.0.0.1", "1.0.0.2", "1.0.0.3"}), "::1 1.0.0.1 1.0.0.2 1.0.0.3 ");
  EXPECT_EQ(interleave({"1.0.0.1", "1.0.0.2", "1.0.0.3", "::1"}), "1.0.0.1 ::1 1.0.0.2 1.0.0.3 ");
  EXPECT_EQ(interleave({"1.0.0.3", "1.0.0.1", "1.0.0.2"}), "1.0.0.3 1.0.0.1 1.0.0.2 ");
  EXPECT_EQ(interleave({"::1"}), "::1 ");
  EXPECT_EQ(interleave({}), "");
}

TEST(Interleave, I13_both_families_are_among_the_addresses_used) {
  EXPECT_EQ(interleave({"::1", "::2", "::3", "1.0.0.1", "1.0.0.2"}, 3), "::1 1.0.0.1 ::2 ");
  EXPECT_EQ(interleave({"::1", "::2", "::3", "1.0.0.1"}, 4), "::1 1.0.0.1 ::2 ::3 ");
}

}  // namespace
}  // namespace reprise::net
