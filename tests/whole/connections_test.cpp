// Tests upstream connections that close at an unexpected time, and clients that get a response before they
// have sent their whole request.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

using play::eventually;
using std::chrono::steady_clock;

TEST(ProxyConnections, D7_old_connection_that_fails_during_the_backoff_is_ignored) {
  for (const std::string_view first : {"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy",
                                       "HTTP/1.1 503 Busy\r\nContent-Length: 100\r\n\r\nhalf"}) {
    ScriptedUpstream upstream([&](Peer& peer) {
      peer.read_request();
      if (peer.number > 1) return peer.send(response(200, "again"));
      peer.send(first);
      peer.socket.reset();
    });
    Wishes wishes;
    wishes.route.retry.backoff.initial = milliseconds(200);
    RunningProxy proxy(std::move(wishes));
    const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
    EXPECT_EQ(got.body, "again");
    EXPECT_EQ(got.field("Reprise-Attempts"), "2");
    EXPECT_EQ(upstream.connections(), 2U);
  }
}

TEST(ProxyConnections, D8_client_gets_502_if_the_last_attempt_fails_on_a_reused_connection) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.read_request();
    peer.send(response(200, "x"));
    peer.read_request();
    peer.socket.reset();
  });
  Wishes wishes;
  wishes.route.retry.max_attempts = 1;
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  // The first POST of a client never uses an idle connection.
  EXPECT_EQ(client.ask(play::with_body("POST", upstream.authority(), "first")).status, 200);
  const WireResponse got = client.ask(play::with_body("POST", upstream.authority(), "once"));
  EXPECT_EQ(got.status, 502);
  EXPECT_EQ(got.field("Reprise-Reason"), "not_idempotent");
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);  // the client's connection stays open
}

TEST(ProxyConnections, D19_attempts_are_never_closer_than_the_backoff) {
  std::mutex mutex;
  std::vector<steady_clock::time_point> times;
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    {
      const std::scoped_lock lock(mutex);
      times.push_back(steady_clock::now());
    }
    if (peer.number % 2 == 0) return peer.socket.reset();
    peer.send(response(503, "busy", "Connection: close\r\n"));
  });
  Wishes wishes;
  wishes.route.retry.backoff = {milliseconds(150), 1, milliseconds(150), policy::Jitter::none};
  wishes.route.retry.max_attempts = 4;
  RunningProxy proxy(std::move(wishes));
  const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
  EXPECT_EQ(got.field("Reprise-Attempts"), "4");
  const std::scoped_lock lock(mutex);
  ASSERT_EQ(times.size(), 4U);
  // The upstream records the time before it responds, so no recorded time is later than the response.
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], milliseconds(150)) << i;
}

struct BusyUpstream {
  std::atomic<int> asked{0};
  ScriptedUpstream upstream{[this](Peer& peer) {
    while (!peer.read_request().empty()) {
      ++asked;
      peer.send(response(503, "busy"));
    }
  }};
};

TEST(ProxyConnections, D20_outer_proxy_does_not_retry_responses_retried_by_an_inner_proxy) {
  BusyUpstream busy;
  Wishes wishes;
  wishes.route.retry.backoff.initial = wishes.route.retry.backoff.maximum = milliseconds(0);
  wishes.route.retry.max_attempts = 3;
  Wishes inner = wishes;
  inner.gateway_to = busy.upstream.port();
  RunningProxy inner_proxy(std::move(inner));
  RunningProxy outer_proxy(std::move(wishes));
  const WireResponse got =
      outer_proxy.client().ask(play::get("127.0.0.1:" + std::to_string(inner_proxy.gateway_port())));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.field("Reprise-Reason"), "nested_retry");
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(busy.asked, 3);
}

TEST(ProxyConnections, D20_two_chained_proxies_multiply_requests_only_within_their_budgets) {
  BusyUpstream busy;
  Wishes wishes;
  wishes.route.retry.inner = policy::Nested::allow;
  policy::BudgetPolicy budget;
  budget.ratio = 0.2;
  budget.floor_per_second = 0.001;
  budget.window = seconds(1000);
  wishes.route.budget = budget;
  Wishes inner = wishes;
  inner.gateway_to = busy.upstream.port();
  RunningProxy inner_proxy(std::move(inner));
  RunningProxy outer_proxy(std::move(wishes));
  RawClient client = outer_proxy.client();
  const std::string authority = "127.0.0.1:" + std::to_string(inner_proxy.gateway_port());
  constexpr int requests = 300;
  for (int i = 0; i < requests; ++i) EXPECT_EQ(client.ask(play::get(authority)).status, 503);
  EXPECT_GT(busy.asked, requests);
  EXPECT_LE(busy.asked, requests * 144 / 100 + 3);
}

TEST(ProxyConnections, I4_client_still_sending_can_read_the_response_that_rejects_it) {
  RunningProxy proxy;
  RawClient client = proxy.client();
  const std::string rest(200'000, 'x');
  client.send("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: x\r\n\r\n" + rest);
  const WireResponse got = client.read_response();
  EXPECT_EQ(got.status, 400);
  EXPECT_TRUE(got.whole);
  EXPECT_EQ(got.field("Connection"), "close");
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
}

TEST(ProxyConnections, I4_rejected_client_that_never_stops_sending_is_disconnected) {
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: x\r\n\r\n");
  const std::string more(100'000, 'x');
  while (client.socket().send(more)) {
  }
  EXPECT_TRUE(eventually([&] { return proxy.metric("reprise_client_connections") == 0; }));
}

TEST(ProxyConnections, I4_rejected_client_that_goes_silent_is_disconnected) {
  RunningProxy proxy;
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: x\r\n\r\n").status,
            400);
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  // The client keeps its own side open and sends nothing more.
  EXPECT_TRUE(eventually([&] { return proxy.metric("reprise_client_connections") == 0; }));
}

}  // namespace
}  // namespace reprise::server
