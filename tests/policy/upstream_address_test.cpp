// Tests which addresses of an upstream are loopback addresses.
#include "proxy/policy/decision/upstream_address.hpp"

#include <gtest/gtest.h>

namespace reprise::policy {
namespace {

using Family = UpstreamAddress::Family;

TEST(UpstreamAddress, loopback_is_127_with_any_end_and_one_address_of_ipv6) {
  EXPECT_FALSE(UpstreamAddress{}.is_loopback());
  EXPECT_TRUE((UpstreamAddress{{127, 0, 0, 1}, 80, Family::v4}.is_loopback()));
  EXPECT_TRUE((UpstreamAddress{{127, 9, 9, 9}, 80, Family::v4}.is_loopback()));
  EXPECT_FALSE((UpstreamAddress{{128, 0, 0, 1}, 80, Family::v4}.is_loopback()));
  UpstreamAddress address{{}, 80, Family::v6};
  EXPECT_FALSE(address.is_loopback()) << "::";
  address.bytes[15] = 1;
  EXPECT_TRUE(address.is_loopback()) << "::1";
  address.bytes[0] = 0xfe;
  EXPECT_FALSE(address.is_loopback()) << "fe00::1";
}

}  // namespace
}  // namespace reprise::policy
