// Tests which fields of HTTP/2 an HTTP/1 request head becomes.
#include "proxy/http/http2/request_fields.hpp"

#include <gtest/gtest.h>

#include "proxy/http/http2/field_lines.hpp"
#include "tests/http2/field_lists.hpp"

namespace reprise::http {
namespace {

Lines request_lines(std::string_view head) {
  FieldBlock block;
  write_request_fields(head, "https", block);
  return lines_of(block);
}

TEST(RequestFields, M33_host_becomes_the_authority_and_names_are_in_lower_case) {
  EXPECT_EQ(request_lines(
                "GET /a?b=c HTTP/1.1\r\nHost: a.test:8080\r\nX-Request-ID:  7 \r\nVia: 1.1 reprise\r\n\r\n"),
            (Lines{":method=GET", ":scheme=https", ":authority=a.test:8080", ":path=/a?b=c", "x-request-id=7",
                   "via=1.1 reprise"}));
}

TEST(RequestFields, M33_fields_of_the_connection_are_left_out) {
  EXPECT_EQ(
      request_lines(
          "POST / HTTP/1.1\r\nHost: a\r\nConnection: TE\r\nKeep-Alive: 5\r\nProxy-Connection: close\r\n"
          "Transfer-Encoding: chunked\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nTE: trailers, deflate\r\n\r\n"),
      (Lines{":method=POST", ":scheme=https", ":authority=a", ":path=/", "te=trailers"}));
}

TEST(RequestFields, M12_upgrade_to_a_websocket_becomes_an_extended_connect_without_its_key) {
  FieldBlock block;
  write_websocket_fields(
      "GET /chat?a=1 HTTP/1.1\r\nHost: a.test\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
      "Origin: https://a.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
      "https", block);
  EXPECT_EQ(lines_of(block),
            (Lines{":method=CONNECT", ":protocol=websocket", ":scheme=https", ":authority=a.test",
                   ":path=/chat?a=1", "sec-websocket-version=13", "origin=https://a.test"}));
}

TEST(RequestFields, M34_te_without_trailers_is_left_out) {
  EXPECT_EQ(request_lines("GET / HTTP/1.1\r\nHost: a\r\nTE: gzip\r\n\r\n").size(), 4U);
}

TEST(RequestFields, M33_repeated_fields_keep_their_order_and_are_not_joined) {
  EXPECT_EQ(request_lines("GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\nA: 3\r\n\r\n"),
            (Lines{":method=GET", ":scheme=https", ":authority=a", ":path=/", "a=1", "b=2", "a=3"}));
}

TEST(RequestFields, M47_credentials_and_short_cookies_are_sensitive) {
  EXPECT_EQ(request_lines("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Basic eA==\r\nCookie: a=1\r\n"
                          "Cookie: session=0123456789abcdef\r\n\r\n"),
            (Lines{":method=GET", ":scheme=https", ":authority=a", ":path=/",
                   "authorization=Basic eA== (sensitive)", "cookie=a=1 (sensitive)",
                   "cookie=session=0123456789abcdef"}));
}

TEST(RequestFields, M47_obs_text_empty_and_long_values_pass_unchanged) {
  const std::string value(8192, 'v');
  EXPECT_EQ(request_lines("OPTIONS * HTTP/1.1\r\nHost: a\r\nA: \xc3\xa4\r\nB:\r\nC: " + value + "\r\n\r\n"),
            (Lines{":method=OPTIONS", ":scheme=https", ":authority=a", ":path=*", "a=\xc3\xa4",
                   "b=", "c=" + value}));
}

TEST(RequestFields, M36_trailer_lines_become_fields_without_pseudo_fields) {
  FieldBlock block;
  write_trailer_fields("X-Sum: 7\r\nB: \r\n", block);
  EXPECT_EQ(lines_of(block), (Lines{"x-sum=7", "b="}));
}

TEST(RequestFields, M47_field_that_is_sensitive_and_listed_stays_sensitive) {
  FieldBlock block;
  write_request_fields("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: b\r\nX: c\r\nY: d\r\n\r\n", "http", block,
                       "authorization,x");
  EXPECT_EQ(lines_of(block), (Lines{":method=GET", ":scheme=http", ":authority=a", ":path=/",
                                    "authorization=b (sensitive)", "x=c (sensitive)", "y=d"}));
}

TEST(RequestFields, M36_host_in_trailers_is_an_ordinary_field) {
  FieldBlock block;
  write_trailer_fields("host: b\r\nx: 1\r\n", block);
  EXPECT_EQ(lines_of(block), (Lines{"host=b", "x=1"}));
}

}  // namespace
}  // namespace reprise::http
