// Tests eviction when connections are scarce or when clients or upstreams stall: which connection is evicted,
// which response it gets, and that the eviction is counted.
#include "proxy/net/io/descriptors.hpp"
#include "tests/support/scarce_descriptors.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

using play::eventually;
using play::RawSocket;
using play::sanitizer_needs_descriptors;
using play::ScarceDescriptors;

std::string series(std::string_view limit) {
  return "reprise_limits_hit_total{limit=\"" + std::string(limit) + "\"}";
}

/// An upstream that holds a GET of /held until the gate opens, and responds to every other request at once.
class Gate {
 public:
  ScriptedUpstream::Script script() {
    return [this](Peer& peer) {
      for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
        if (got.starts_with("GET /held ")) {
          ++held;
          eventually([this] { return open.load(); });
        }
        peer.send(response(200, "x", "Connection: close\r\n"));
        return;
      }
    };
  }
  std::atomic<int> held{0};
  std::atomic<bool> open{false};
};

/// A running proxy with one client whose request the upstream holds.
struct Busy {
  explicit Busy(Wishes wishes = {})
      : upstream(gate.script()), proxy(std::move(wishes)), client(proxy.client()) {
    client.send(play::get(upstream.authority(), "/held"));
  }
  bool is_held() const {
    return eventually([this] { return gate.held == 1; });
  }

  Gate gate;
  ScriptedUpstream upstream;
  RunningProxy proxy;
  RawClient client;
};

void expect_no_descriptor(const WireResponse& refused) {
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.field("Reprise-Reason"), "no_descriptor");
  EXPECT_EQ(refused.field("Retry-After"), "1");
}

TEST(ProxyShedding, I6_client_is_rejected_without_a_free_descriptor_and_others_continue) {
  if (sanitizer_needs_descriptors) GTEST_SKIP() << "sanitizer: needs descriptors of its own";
  Busy busy;
  ASSERT_TRUE(busy.is_held());
  {
    // The descriptor limit stays in place over all rounds, because the proxy reopens its reserve descriptor
    // only after the client has read its response. If the limit were lifted meanwhile, the reserve or the
    // next client would lack a descriptor.
    const ScarceDescriptors scarce(1);
    for (int round = 0; round < 3; ++round) {
      RawClient newcomer = busy.proxy.client();  // takes the last free descriptor
      ASSERT_TRUE(newcomer.socket().open());
      expect_no_descriptor(newcomer.ask(play::get(busy.upstream.authority())));
    }
  }
  busy.gate.open = true;
  EXPECT_EQ(busy.client.read_response().status, 200);
  EXPECT_EQ(busy.proxy.client().ask(play::get(busy.upstream.authority())).status, 200);
  EXPECT_EQ(busy.proxy.metric(series("no_descriptor")), 3);
}

TEST(ProxyShedding, I6_reserve_descriptor_is_opened_again_once_a_descriptor_is_free) {
  if (sanitizer_needs_descriptors) GTEST_SKIP() << "sanitizer: needs descriptors of its own";
  Busy busy;
  ASSERT_TRUE(busy.is_held());
  RawSocket waiting = RawSocket::unconnected();
  {
    const ScarceDescriptors scarce(0);
    const int before = scarce.open_now();
    scarce.withhold_what_is_closed();
    EXPECT_TRUE(waiting.connect(busy.proxy.port()));
    EXPECT_TRUE(eventually([&] { return scarce.open_now() == before - 1; })) << "the reserve is given up";
  }
  RawClient second(std::move(waiting));
  second.send(play::get(busy.upstream.authority(), "/held"));
  ASSERT_TRUE(eventually([&] { return busy.gate.held == 2; }));
  {
    const ScarceDescriptors scarce(1);
    RawClient newcomer = busy.proxy.client();
    expect_no_descriptor(newcomer.ask(play::get(busy.upstream.authority())));
  }
  busy.gate.open = true;
  EXPECT_EQ(busy.client.read_response().status, 200);
  EXPECT_EQ(second.read_response().status, 200);
}

TEST(ProxyShedding, I6_idle_upstream_connection_is_closed_to_free_its_descriptor) {
  if (sanitizer_needs_descriptors) GTEST_SKIP() << "sanitizer: needs descriptors of its own";
  ScriptedUpstream first(play::responses({response(200, "first")}));
  ScriptedUpstream second(play::responses({response(200, "second")}));
  RunningProxy proxy;
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(first.authority())).status, 200);
  WireResponse got;
  {
    // Closing the idle connection frees two descriptors, because both of its ends are in this process. The
    // dial uses one of them, and the second upstream the other.
    const ScarceDescriptors scarce(0);
    got = client.ask(play::get(second.authority()));
  }
  EXPECT_EQ(got.body, "second");
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(proxy.metric("reprise_upstream_connections{state=\"idle\"}"), 1);
}

TEST(ProxyShedding, I6_connection_limits_follow_the_open_file_limit) {
  ScarceDescriptors scarce(100);
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  const std::size_t few = net::clients_allowed(64);
  EXPECT_GE(few, now.rlim_cur / 4);
  EXPECT_LT(few, now.rlim_cur / 2);
  EXPECT_EQ(net::admin_allowed(64), now.rlim_cur / 4 / 2)
      << "and half of the rest is the admin listener's (row L9)";
  EXPECT_EQ(net::admin_allowed(1), 1U);
  net::raise_descriptor_limit(10, 0);  // a lower value does not lower the limit
  EXPECT_EQ(net::clients_allowed(64), few);
  net::raise_descriptor_limit(few + 200, 64);
  EXPECT_EQ(net::clients_allowed(64), few + 200);
  EXPECT_EQ(net::admin_allowed(64), 64U);
}

TEST(ProxyShedding, I6_longest_idle_client_is_evicted_over_the_limit) {
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  Wishes wishes;
  wishes.settings.limits.connections = 1;
  RunningProxy proxy(std::move(wishes));
  RawClient resting = proxy.client();
  EXPECT_EQ(resting.ask(play::get(upstream.authority())).status, 200);
  EXPECT_TRUE(eventually([&] { return proxy.client().ask(play::get(upstream.authority())).status == 200; }));
  EXPECT_EQ(resting.socket().read_to_end(), Wire::fin);
  EXPECT_GE(proxy.metric(series("room")), 1);
}

TEST(ProxyShedding, I6_rejected_client_gets_503_after_its_request) {
  Wishes wishes;
  wishes.settings.limits.connections = 1;
  Busy busy(std::move(wishes));
  ASSERT_TRUE(busy.is_held());
  // There are more clients than the proxy rejects gracefully at the same time. Each client still gets its
  // 503.
  std::vector<RawClient> crowd;
  for (int i = 0; i < 40; ++i) crowd.push_back(busy.proxy.client());
  for (RawClient& each : crowd) {
    const WireResponse refused = each.ask(play::with_body("PUT", busy.upstream.authority(), "body"));
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.field("Reprise-Reason"), "connection_limit");
    EXPECT_EQ(refused.field("Connection"), "close");
  }
  EXPECT_EQ(busy.proxy.metric(series("connection_limit")), 40);
  EXPECT_EQ(busy.proxy.metric("reprise_client_connections"), 1);
  busy.gate.open = true;
  EXPECT_EQ(busy.client.read_response().status, 200);
}

TEST(ProxyShedding, client_that_is_idle_for_the_keep_alive_time_is_closed_and_counted) {
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  Wishes wishes;
  wishes.settings.timers.keep_alive = milliseconds(50);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(client.socket().received(), "");
  EXPECT_EQ(proxy.metric(series("keep_alive")), 1);
}

TEST(ProxyShedding, incomplete_head_gets_408_and_is_counted) {
  Wishes wishes;
  wishes.settings.timers.header = milliseconds(50);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask("GET http://a.test/ HTTP/1.1\r\nHost: a.te").status, 408);
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(proxy.metric(series("header")), 1);
  EXPECT_EQ(proxy.metric("reprise_rejected_requests_total{cause=\"header_timeout\"}"), 1);
}

TEST(ProxyShedding, request_body_that_stops_ends_the_attempt_and_is_counted) {
  std::atomic<bool> whole{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_head();
    whole = peer.socket.read_bytes(100);
  });
  Wishes wishes;
  wishes.route.idle_timeout = milliseconds(50);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send("PUT http://" + upstream.authority() + "/ HTTP/1.1\r\nHost: " + upstream.authority() +
              "\r\nContent-Length: 100\r\n\r\nten bytes.");
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  EXPECT_TRUE(eventually([&] { return upstream.running() == 0; }));
  EXPECT_FALSE(whole);
  EXPECT_EQ(proxy.metric(series("request_idle")), 1);
}

TEST(ProxyShedding, upstream_that_does_not_read_ends_the_attempt_and_is_counted) {
  std::atomic<bool> over{false};
  ScriptedUpstream upstream([&](Peer&) { eventually([&] { return over.load(); }); });
  Wishes wishes;
  wishes.route.idle_timeout = milliseconds(200);
  wishes.route.retry.max_attempts = 1;
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  std::thread sending(
      [&] { client.send(play::with_body("PUT", upstream.authority(), std::string(30'000'000, 'x'))); });
  EXPECT_TRUE(eventually([&] { return proxy.metric(series("request_unread")) >= 1; }));
  over = true;
  sending.join();
}

TEST(ProxyShedding, response_that_stops_is_cut_and_counted) {
  std::atomic<bool> over{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nten bytes.");
    eventually([&] { return over.load(); });
  });
  Wishes wishes;
  wishes.route.idle_timeout = milliseconds(50);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(proxy.metric(series("response_idle")), 1);
  over = true;
}

}  // namespace
}  // namespace reprise::server
