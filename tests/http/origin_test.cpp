// The ports and the text of an origin.
#include "proxy/http/message/origin.hpp"

#include <gtest/gtest.h>

namespace reprise::http {
namespace {

TEST(Origin, its_text_has_brackets_around_a_literal_of_version_6_alone) {
  EXPECT_EQ(authority_text("h.test", 8080), "h.test:8080");
  EXPECT_EQ(authority_text("192.0.2.1", 80), "192.0.2.1:80");
  EXPECT_EQ(authority_text("::1", 443), "[::1]:443");
}

TEST(Origin, the_standard_port_of_its_scheme_is_left_out) {
  EXPECT_EQ(authority_text("h.test", 80, http_port), "h.test");
  EXPECT_EQ(authority_text("h.test", 80, https_port), "h.test:80");
  EXPECT_EQ(authority_text("::1", 443, https_port), "[::1]");
  EXPECT_EQ(authority_text("::1", 443, http_port), "[::1]:443");
}

TEST(Origin, over_TLS_only_the_scheme_s_own_port_becomes_another) {
  EXPECT_EQ(port_over_tls(80), 443);
  EXPECT_EQ(port_over_tls(443), 443);
  EXPECT_EQ(port_over_tls(8080), 8080);
}

}  // namespace
}  // namespace reprise::http
