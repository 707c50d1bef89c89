// Families by turns, in the order that the resolver gave.
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

TEST(Interleave, D12_families_take_turns_beginning_with_the_first_ones) {
  EXPECT_EQ(interleave({"::1", "::2", "1.0.0.1", "1.0.0.2"}), "::1 1.0.0.1 ::2 1.0.0.2 ");
  EXPECT_EQ(interleave({"1.0.0.1", "1.0.0.2", "::1", "::2"}), "1.0.0.1 ::1 1.0.0.2 ::2 ");
  EXPECT_EQ(interleave({"1.0.0.1", "::1", "::2", "1.0.0.2"}), "1.0.0.1 ::1 1.0.0.2 ::2 ");
}

TEST(Interleave, D12_what_is_left_of_one_family_comes_in_its_order) {
  EXPECT_EQ(interleave({"::1", "1.0.0.1", "1.0.0.2", "1.0.0.3"}), "::1 1.0.0.1 1.0.0.2 1.0.0.3 ");
  EXPECT_EQ(interleave({"1.0.0.1", "1.0.0.2", "1.0.0.3", "::1"}), "1.0.0.1 ::1 1.0.0.2 1.0.0.3 ");
  EXPECT_EQ(interleave({"1.0.0.3", "1.0.0.1", "1.0.0.2"}), "1.0.0.3 1.0.0.1 1.0.0.2 ");
  EXPECT_EQ(interleave({"::1"}), "::1 ");
  EXPECT_EQ(interleave({}), "");
}

TEST(Interleave, I13_both_families_are_among_those_that_are_used) {
  EXPECT_EQ(interleave({"::1", "::2", "::3", "1.0.0.1", "1.0.0.2"}, 3), "::1 1.0.0.1 ::2 ");
  EXPECT_EQ(interleave({"::1", "::2", "::3", "1.0.0.1"}, 4), "::1 1.0.0.1 ::2 ::3 ");
}

}  // namespace
}  // namespace reprise::net
