// Tests the ports and the text form of an origin.
#include "proxy/http/message/origin.hpp"

#include <gtest/gtest.h>

namespace reprise::http {
namespace {

TEST(Origin, only_ipv6_literals_are_printed_in_brackets) {
  EXPECT_EQ(authority_text("h.test", 8080), "h.test:8080");
  EXPECT_EQ(authority_text("192.0.2.1", 80), "192.0.2.1:80");
  EXPECT_EQ(authority_text("::1", 443), "[::1]:443");
}

TEST(Origin, default_port_of_the_scheme_is_omitted) {
  EXPECT_EQ(authority_text("h.test", 80, http_port), "h.test");
  EXPECT_EQ(authority_text("h.test", 80, https_port), "h.test:80");
  EXPECT_EQ(authority_text("::1", 443, https_port), "[::1]");
  EXPECT_EQ(authority_text("::1", 443, http_port), "[::1]:443");
}

TEST(Origin, upstream_port_80_becomes_443_over_tls_and_other_ports_are_unchanged) {
  EXPECT_EQ(port_over_tls(80), 443);
  EXPECT_EQ(port_over_tls(443), 443);
  EXPECT_EQ(port_over_tls(8080), 8080);
}

}  // namespace
}  // namespace reprise::http
