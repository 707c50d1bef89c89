// Tests that Request::clear() leaves nothing to the next request that uses the same memory.
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

TEST(RequestTest, clear_resets_the_parsed_request_head) {
  const std::string text = "\r\nPOST /x HTTP/1.0\r\nHost: h\r\nContent-Length: 26\r\n\r\n";
  Request request;
  ASSERT_TRUE(std::holds_alternative<http::Progress>(http::parse_request(text, {}, request.in.head)));
  ASSERT_EQ(request.in.head.framing.length, 26U);
  request.clear();
  expect_fresh(request.in.head);
  EXPECT_TRUE(request.in.head.method.empty());
  EXPECT_TRUE(request.in.head.target.empty());
  EXPECT_EQ(request.in.head.skipped, 0U);
}

TEST(RequestTest, clear_resets_the_heads_of_all_responses) {
  const std::string text = "HTTP/1.0 503 Busy\nContent-Length: 26\nConnection: close\n\n";
  Request request;
  for (Response* const response :
       {&request.responses.live, &request.responses.copy, &request.responses.kept}) {
    ASSERT_TRUE(
        std::holds_alternative<http::Progress>(http::parse_response(text, {}, "GET", response->head)));
    ASSERT_FALSE(response->head.clean.empty());
    response->number = 3;
  }
  request.clear();
  for (const Response* const response :
       {&request.responses.live, &request.responses.copy, &request.responses.kept}) {
    expect_fresh(response->head);
    EXPECT_EQ(response->head.status, 0);
    EXPECT_TRUE(response->head.reusable);
    EXPECT_TRUE(response->head.clean.empty());
    EXPECT_FALSE(response->any());
  }
}

/// The protocol of a stream that is never opened.
class NoProtocol final : public StreamProtocol {
 public:
  void append_opened(std::string_view, std::string&) const override {}
  bool append_failed(policy::Cause, std::string&) const override { return false; }
  bool names_host() const override { return false; }
};

TEST(RequestTest, clear_resets_all_decisions_about_the_request) {
  const NoProtocol protocol;
  Request request;
  request.in.kind = RequestKind::intercepted;
  request.in.started += std::chrono::seconds(5);
  request.in.listener = "forward 127.0.0.1:3128";
  request.route.number = 7;
  request.route.in_tunnel = true;
  request.route.facts.unaware_client = true;
  request.route.facts.first_of_connection = true;
  request.out.via = AttemptVia::over_loopback;
  request.out.freshness = net::Freshness::unused;
  request.out.continue_sent = request.out.resuming = request.out.bound = true;
  request.responses.gateway_authority = "gateway.test:80";
  request.responses.gateway.emplace();
  request.purpose.emplace<TunnelRequest>(protocol, "host.test", std::uint16_t{443}, "host.test:443");
  request.number = 3;
  request.clear();
  const Request fresh;
  EXPECT_EQ(request.in.kind, fresh.in.kind);
  EXPECT_EQ(request.in.started, fresh.in.started);
  EXPECT_TRUE(request.in.listener.empty());
  EXPECT_EQ(request.route.number, fresh.route.number);
  EXPECT_EQ(request.route.in_tunnel, fresh.route.in_tunnel);
  EXPECT_EQ(request.route.facts.unaware_client, fresh.route.facts.unaware_client);
  EXPECT_EQ(request.route.facts.first_of_connection, fresh.route.facts.first_of_connection);
  EXPECT_EQ(request.out.via, fresh.out.via);
  EXPECT_EQ(request.out.freshness, fresh.out.freshness);
  EXPECT_FALSE(request.out.continue_sent || request.out.resuming || request.out.bound);
  EXPECT_TRUE(request.responses.gateway_authority.empty());
  EXPECT_FALSE(request.responses.gateway);
  EXPECT_TRUE(std::holds_alternative<Plain>(request.purpose));
  EXPECT_EQ(request.tunnel(), nullptr);
  EXPECT_EQ(request.number, 0U);
  EXPECT_EQ(request.out.body.received(), 0U);
}

}  // namespace
}  // namespace reprise::forward
