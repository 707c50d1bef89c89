// Tests the keys of WebSockets, and which responses open one for an HTTP/2 client.
#include "proxy/http/http2/websocket.hpp"

#include <gtest/gtest.h>

#include "proxy/http/http1/parse.hpp"

namespace reprise::http {
namespace {

// The example of RFC 6455 1.3.
constexpr const char* key = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr const char* accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// Returns the fault of a response to an upgrade request with `key`.
std::string_view fault(const std::string& response, bool over_http2 = true, bool upgrades = true) {
  const std::string text = std::string("GET / HTTP/1.1\r\nHost: a.test\r\nSec-WebSocket-Key: ") + key +
                           (upgrades ? "\r\nConnection: upgrade\r\nUpgrade: websocket" : "") + "\r\n\r\n";
  RequestHead request;
  EXPECT_EQ(parse_request(text, {}, request), Parsed{Progress::complete});
  request.over_http2 = over_http2;
  ResponseHead head;
  EXPECT_EQ(parse_response(response, {}, "GET", head), Parsed{Progress::complete}) << response;
  return websocket_fault(request, head);
}

std::string switching(const std::string& fields) {
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" + fields +
         "Connection: Upgrade\r\n\r\n";
}

const std::string right_field = std::string("sec-websocket-accept: ") + accept + "\r\n";

TEST(WebSocket, M12_key_is_the_base64_form_of_sixteen_bytes) {
  EXPECT_EQ(websocket_key({}), "AAAAAAAAAAAAAAAAAAAAAA==");
  EXPECT_EQ(websocket_key({'t', 'h', 'e', ' ', 's', 'a', 'm', 'p', 'l', 'e', ' ', 'n', 'o', 'n', 'c', 'e'}),
            key);
}

TEST(WebSocket, M12_accept_value_is_that_of_the_example_in_the_rfc) {
  EXPECT_EQ(websocket_accept(key), accept);
}

TEST(WebSocket, M12_response_101_needs_the_accept_value_of_its_key_once) {
  EXPECT_EQ(fault(switching(right_field)), "");
  EXPECT_NE(fault(switching("")), "");
  EXPECT_NE(fault(switching("Sec-WebSocket-Accept: S3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")), "");
  EXPECT_NE(fault(switching("Sec-WebSocket-Accept:\r\n")), "");
  EXPECT_NE(fault(switching(right_field + right_field)), "");
}

TEST(WebSocket, M12_response_2xx_is_a_fault_and_other_responses_pass) {
  for (const char* const status : {"200", "201", "204"})
    EXPECT_NE(fault(std::string("HTTP/1.1 ") + status + " X\r\nContent-Length: 0\r\n\r\n"), "") << status;
  for (const char* const status : {"103", "302", "403", "426", "503"})
    EXPECT_EQ(fault(std::string("HTTP/1.1 ") + status + " X\r\n\r\n"), "") << status;
}

TEST(WebSocket, responses_of_other_requests_are_not_checked) {
  EXPECT_EQ(fault(switching(""), false), "");
  EXPECT_EQ(fault("HTTP/1.1 200 OK\r\n\r\n", true, false), "");
}

TEST(WebSocket, M12_response_101_becomes_200_without_the_accept_value) {
  const std::string text = switching(right_field + "sec-websocket-protocol: chat\r\n");
  ResponseHead head;
  ASSERT_EQ(parse_response(text, {}, "GET", head), Parsed{Progress::complete});
  EXPECT_EQ(opened_websocket(head),
            "HTTP/1.1 200 OK\r\nUpgrade: websocket\r\nsec-websocket-protocol: chat\r\n"
            "Connection: Upgrade\r\n\r\n");
}

TEST(WebSocket, M12_response_2xx_of_an_http_2_upstream_becomes_101_without_a_length) {
  EXPECT_EQ(switched_websocket(
                "HTTP/1.1 204 No Content\r\nsec-websocket-protocol: chat\r\ncontent-length: 5\r\n\r\n"),
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
            "sec-websocket-protocol: chat\r\n\r\n");
}

TEST(WebSocket, M12_request_without_a_key_accepts_no_101) {
  const std::string text =
      "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
  RequestHead request;
  ASSERT_EQ(parse_request(text, {}, request), Parsed{Progress::complete});
  request.over_http2 = true;
  const std::string response = switching(right_field);
  ResponseHead head;
  ASSERT_EQ(parse_response(response, {}, "GET", head), Parsed{Progress::complete});
  EXPECT_NE(websocket_fault(request, head), "");
}

}  // namespace
}  // namespace reprise::http
