// What a request leaves behind for the next one that is lent the same memory.
#include "proxy/forward/request/request.hpp"

#include <gtest/gtest.h>

#include "proxy/http/http1/parse.hpp"

namespace reprise::forward {
namespace {

template <typename Head>
void expect_fresh(const Head& head) {
  EXPECT_TRUE(head.fields.empty());
  EXPECT_EQ(head.minor_version, 1U);
  EXPECT_EQ(head.framing.kind, http::Framing::Kind::none);
  EXPECT_EQ(head.framing.length, 0U);
  EXPECT_EQ(head.bytes, 0U);
  EXPECT_FALSE(head.close);
}

TEST(RequestTest, clear_resets_the_framing_of_its_head) {
  const std::string text = "\r\nPOST /x HTTP/1.0\r\nHost: h\r\nContent-Length: 26\r\n\r\n";
  Request request;
  ASSERT_TRUE(std::holds_alternative<http::Progress>(http::parse_request(text, {}, request.head)));
  ASSERT_EQ(request.head.framing.length, 26U);
  request.clear();
  expect_fresh(request.head);
  EXPECT_TRUE(request.head.method.empty());
  EXPECT_TRUE(request.head.target.empty());
  EXPECT_EQ(request.head.skipped, 0U);
}

TEST(RequestTest, clear_resets_the_heads_of_its_responses) {
  const std::string text = "HTTP/1.0 503 Busy\nContent-Length: 26\nConnection: close\n\n";
  Request request;
  for (Response* const response : {&request.live, &request.copy, &request.kept}) {
    ASSERT_TRUE(
        std::holds_alternative<http::Progress>(http::parse_response(text, {}, "GET", response->head)));
    ASSERT_FALSE(response->head.clean.empty());
    response->number = 3;
  }
  request.clear();
  for (const Response* const response : {&request.live, &request.copy, &request.kept}) {
    expect_fresh(response->head);
    EXPECT_EQ(response->head.status, 0);
    EXPECT_TRUE(response->head.reusable);
    EXPECT_TRUE(response->head.clean.empty());
    EXPECT_FALSE(response->any());
  }
}

TEST(RequestTest, clear_resets_what_was_decided_about_it) {
  Request request;
  request.route = 7;
  request.facts.unaware_client = true;
  request.facts.first_of_connection = true;
  request.started += std::chrono::seconds(5);
  request.via = AttemptVia::over_loopback;
  request.gateway_authority = "gateway.test:80";
  request.kind = RequestKind::intercepted;
  request.entrance = Entrance::socks;
  request.tunnel = TunnelProgress::hello_held;
  request.server_name = "name.test";
  request.hello_bytes = 9;
  request.upgrade = request.continue_sent = request.resuming = request.bound = true;
  request.clear();
  const Request fresh;
  EXPECT_EQ(request.route, fresh.route);
  EXPECT_EQ(request.facts.unaware_client, fresh.facts.unaware_client);
  EXPECT_EQ(request.facts.first_of_connection, fresh.facts.first_of_connection);
  EXPECT_EQ(request.started, fresh.started);
  EXPECT_EQ(request.via, fresh.via);
  EXPECT_EQ(request.gateway_authority, fresh.gateway_authority);
  EXPECT_EQ(request.kind, fresh.kind);
  EXPECT_EQ(request.entrance, fresh.entrance);
  EXPECT_EQ(request.tunnel, fresh.tunnel);
  EXPECT_EQ(request.server_name, fresh.server_name);
  EXPECT_EQ(request.hello_bytes, fresh.hello_bytes);
  EXPECT_FALSE(request.upgrade || request.continue_sent || request.resuming || request.bound);
  EXPECT_EQ(request.body.received(), 0U);
}

}  // namespace
}  // namespace reprise::forward
