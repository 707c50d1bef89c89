// Tests which fields of HTTP/2 an HTTP/1 response head becomes.
#include "proxy/http/http2/response_fields.hpp"

#include <gtest/gtest.h>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/http2/response_text.hpp"
#include "tests/http2/field_lists.hpp"

namespace reprise::http {
namespace {

Lines response_lines(std::string_view head) {
  FieldBlock block;
  write_response_fields(head, block);
  return lines_of(block);
}

TEST(ResponseFields, status_comes_first_and_the_reason_phrase_is_dropped) {
  EXPECT_EQ(response_lines("HTTP/1.1 404 Not Found at all\r\nContent-Type: text/plain\r\nX-A:  b \r\n\r\n"),
            (Lines{":status=404", "content-type=text/plain", "x-a=b"}));
  EXPECT_EQ(response_lines("HTTP/1.1 200 \r\n\r\n"), (Lines{":status=200"}));
  EXPECT_EQ(response_lines("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
            (Lines{":status=103", "link=</a>"}));
}

TEST(ResponseFields, fields_of_the_connection_and_those_that_connection_names_are_left_out) {
  EXPECT_EQ(
      response_lines("HTTP/1.1 200 OK\r\nX-Hop: 1\r\nConnection: close, x-hop, content-length\r\n"
                     "Connection: X-Other\r\nx-other: 2\r\nKeep-Alive: 5\r\nProxy-Connection: close\r\n"
                     "Upgrade: h2c\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\nX-End: 4\r\n\r\n"),
      (Lines{":status=200", "content-length=3", "x-end=4"}));
}

TEST(ResponseFields, M47_set_cookies_are_not_joined_and_short_ones_are_sensitive) {
  Lines expected = {":status=200"};
  std::string head = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 60; ++i) {
    const std::string cookie = "cookie-" + std::to_string(i) + "=1; Path=/; Secure";
    head += "Set-Cookie: " + cookie + "\r\n";
    expected.push_back("set-cookie=" + cookie);
  }
  expected.emplace_back("set-cookie=pin=1234 (sensitive)");
  EXPECT_EQ(response_lines(head + "Set-Cookie: pin=1234\r\n\r\n"), expected);
}

TEST(ResponseFields, M47_obs_text_and_empty_values_pass_unchanged) {
  const std::string value(8192, 'v');
  EXPECT_EQ(response_lines("HTTP/1.1 200 OK\r\nA: \xc3\xa4\r\nB:\r\nC: " + value + "\r\n\r\n"),
            (Lines{":status=200", "a=\xc3\xa4", "b=", "c=" + value}));
}

TEST(ResponseFields, head_that_the_proxy_sends_is_a_well_formed_response) {
  ResponseHead read;
  const std::string received =
      "HTTP/1.1 200 OK\r\nConnection: x-hop, close\r\nX-Hop: 1\r\nUpgrade: TLS/1.0\r\nX-A: 1\r\n\r\n";
  ASSERT_EQ(parse_response(received, {}, "GET", read), Parsed{Progress::complete});
  ResponseRewrite rewrite;
  rewrite.close = rewrite.chunked = true;
  rewrite.via_pseudonym = "r";
  rewrite.date = "now";
  std::string head;
  write_response_head(read, rewrite, head);
  FieldBlock block;
  write_response_fields(head, block);
  EXPECT_EQ(lines_of(block), (Lines{":status=200", "x-a=1", "date=now", "via=1.1 r"}));
  ResponseText response;
  response.begin(ResponseText::Section::head, {});
  for (const Field& field : block.fields) response.add(field.name, field.value);
  EXPECT_FALSE(response.end());
}

}  // namespace
}  // namespace reprise::http
