// Tests which hosts are reached without the parent proxy.
#include "proxy/net/upstream/parent_exceptions.hpp"

#include <gtest/gtest.h>

namespace reprise::net {
namespace {

TEST(ParentExceptions, parent_exceptions_match_names_and_suffixes_in_any_case) {
  const ParentExceptions exceptions({"api.test", "*.internal"});
  EXPECT_TRUE(exceptions.contains("API.test"));
  EXPECT_TRUE(exceptions.contains("api.test."));
  EXPECT_TRUE(exceptions.contains("a.b.internal"));
  EXPECT_FALSE(exceptions.contains("internal"));
  EXPECT_FALSE(exceptions.contains("x.api.test"));
  EXPECT_FALSE(exceptions.contains("notinternal"));
}

TEST(ParentExceptions, H2_network_in_the_parent_exceptions_matches_addresses_in_any_spelling_but_no_name) {
  const ParentExceptions exceptions({"10.0.0.0/8", "192.0.2.1/32", "fd00::/8"});
  for (const char* host : {"10.1.2.3", "10.0.0.0", "0x0a010203", "::ffff:10.1.2.3", "192.0.2.1", "fd12::1"})
    EXPECT_TRUE(exceptions.contains(host)) << host;
  for (const char* host : {"11.0.0.1", "192.0.2.2", "fe80::1", "10.internal", "ten.test", ""})
    EXPECT_FALSE(exceptions.contains(host)) << host;
}

TEST(ParentExceptions, empty_list_of_parent_exceptions_matches_no_host) {
  EXPECT_FALSE(ParentExceptions().contains("a.test"));
  EXPECT_FALSE(ParentExceptions().contains("10.0.0.1"));
}

}  // namespace
}  // namespace reprise::net
