// Tests how Via shows that a request has already passed through this proxy, and that a response comes from
// another reprise.
#include "proxy/http/message/via.hpp"

#include <gtest/gtest.h>

#include "proxy/http/retry_hints/hint.hpp"
#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;

TEST(Via, H5_own_pseudonym_in_via_is_detected_as_a_loop) {
  const auto looped = [](const string& lines) {
    return has_looped(ReadRequest(get(lines)).head, "reprise-x1");
  };
  EXPECT_TRUE(looped("Via: 1.1 reprise-x1\r\n"));
  EXPECT_TRUE(looped("Via: 1.1 a, 1.0 reprise-x1 (comment), 1.1 b\r\n"));
  EXPECT_TRUE(looped("Via: 1.1 a\r\nVia: HTTP/1.1\treprise-x1\r\n"));
  EXPECT_TRUE(looped("Via: 1.1 a (one, two \\) three (four)), 1.1 Reprise-X1\r\n"));
  EXPECT_FALSE(looped(""));
  EXPECT_FALSE(looped("Via: 1.1 reprise-x12\r\n"));
  EXPECT_FALSE(looped("Via: 1.1 a (1.1 reprise-x1, 1.1 reprise-x1)\r\n"));
  EXPECT_FALSE(looped("Via: reprise-x1\r\nX: 1.1 reprise-x1\r\n"));
}

TEST(Via, H5_text_in_a_via_comment_is_ignored) {
  const auto looped = [](const string& via) {
    return has_looped(ReadRequest(get("Via: " + via + "\r\n")).head, "reprise-x1");
  };
  EXPECT_FALSE(looped("1.1 a (b, 1.1 reprise-x1 c)"));
  EXPECT_FALSE(looped("1.1 a (b \\) , 1.1 reprise-x1 c)"));
  EXPECT_FALSE(looped("1.1 a (b (c) , 1.1 reprise-x1 d)"));
  EXPECT_TRUE(looped("1.1 a (b) , 1.1 reprise-x1"));
}

TEST(Via, H5_unclosed_via_comment_extends_to_the_end_of_its_line) {
  const auto looped = [](const string& lines) {
    return has_looped(ReadRequest(get(lines)).head, "reprise-x1");
  };
  EXPECT_TRUE(looped("Via: 1.1 reprise-x1 (no end, 1.1 b\r\n"));
  EXPECT_FALSE(looped("Via: 1.1 a (no end, 1.1 reprise-x1\r\n"));
  EXPECT_FALSE(looped("Via: 1.1 a (no end \\\r\n"));
  EXPECT_TRUE(looped("Via: 1.1 a (no end\r\nVia: 1.1 reprise-x1\r\n"));
}

TEST(Via, H5_unmatched_closing_bracket_in_via_is_ignored) {
  EXPECT_TRUE(has_looped(ReadRequest(get("Via: 1.1 a), 1.1 reprise-x1\r\n")).head, "reprise-x1"));
  EXPECT_TRUE(has_looped(ReadRequest(get("Via: 1.1 a (b)), 1.1 reprise-x1\r\n")).head, "reprise-x1"));
}

bool comes_from_reprise(const string& lines) {
  const ReadResponse read("HTTP/1.1 503 X\r\n" + lines + "Content-Length: 0\r\n\r\n");
  return read_hints(read.head, 0).from_reprise;
}

TEST(Via, D20_comments_and_empty_members_do_not_affect_detecting_another_reprise) {
  EXPECT_TRUE(comes_from_reprise("Via: 1.1 a (one, two \\) three (four)), 1.1 reprise-7f3a\r\n"));
  EXPECT_TRUE(comes_from_reprise("Via: 1.1 a), 1.1 reprise-7f3a\r\n"));
  EXPECT_TRUE(comes_from_reprise("Via: nginx, , 1.1 reprise-7f3a (no end, x\r\n"));
  EXPECT_TRUE(comes_from_reprise("Proxy-Status: , reprise-7f3a,\r\n"));
  EXPECT_FALSE(comes_from_reprise("Via: 1.1 a (b \\), 1.1 reprise-7f3a)\r\n"));
  EXPECT_FALSE(comes_from_reprise("Via: 1.1 a (no end, 1.1 reprise-7f3a\r\n"));
  EXPECT_FALSE(comes_from_reprise("Via: reprise-7f3a\r\nProxy-Status: ,\r\n"));
}

TEST(Via, D20_another_reprise_is_detected_by_via_or_proxy_status) {
  EXPECT_TRUE(comes_from_reprise("Via: 1.1 reprise-7f3a\r\n"));
  EXPECT_TRUE(comes_from_reprise("Via: 1.0 squid, 1.1 Reprise-7f3a (x), 1.1 nginx\r\n"));
  EXPECT_TRUE(comes_from_reprise("Via: 1.1 nginx\r\nVia: 1.1 reprise-7f3a\r\n"));
  EXPECT_TRUE(comes_from_reprise("Proxy-Status: reprise-7f3a; error=connection_refused\r\n"));
  EXPECT_TRUE(comes_from_reprise("proxy-status: cdn, reprise-7f3a; received-status=503\r\n"));
  EXPECT_TRUE(comes_from_reprise("Via: 1.1 reprise-7f3a\r\nVia: 1.1 nginx\r\n"));
  EXPECT_FALSE(comes_from_reprise(""));
  EXPECT_FALSE(comes_from_reprise("Via: 1.1 enterprise-1, 1.1 reprise\r\n"));
  EXPECT_FALSE(comes_from_reprise("Via: 1.1 a (1.1 reprise-7f3a)\r\n"));
  EXPECT_FALSE(comes_from_reprise("Proxy-Status: cdn; next-hop=reprise-7f3a\r\n"));
  EXPECT_FALSE(comes_from_reprise("Server: reprise-7f3a\r\nX-Proxy-Stat: reprise-1\r\n"));
  EXPECT_FALSE(names_reprise({"Server", "1.1 reprise-7f3a", "Server: 1.1 reprise-7f3a\r\n", FieldId::other}));
}

}  // namespace
}  // namespace reprise::http
