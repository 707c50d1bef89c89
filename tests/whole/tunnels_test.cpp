// Tests tunnels through the whole proxy: CONNECT and upgraded connections, to the last byte of either side.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::tunnels_test {
namespace {

std::string connect_to(const ScriptedUpstream& upstream) {
  return "CONNECT " + upstream.authority() + " HTTP/1.1\r\nHost: " + upstream.authority() + "\r\n\r\n";
}

void echo(Peer& peer) {
  while (peer.socket.read_more()) peer.send(peer.socket.take_all());
}

/// Opens the tunnel and checks the response to CONNECT.
RawClient open_tunnel(const RunningProxy& proxy, const ScriptedUpstream& upstream) {
  RawClient client = proxy.client();
  client.send(connect_to(upstream));
  const WireResponse got = client.read_response_without_body();
  EXPECT_EQ(got.status, 200);
  EXPECT_FALSE(got.has("Content-Length") || got.has("Transfer-Encoding")) << got.head;  // row G3
  return client;
}

TEST(ProxyTunnels, G3_bytes_pass_unchanged_in_both_directions) {
  ScriptedUpstream upstream(echo);
  RunningProxy proxy(Wishes{});
  RawClient client = open_tunnel(proxy, upstream);
  std::string bytes(300'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 11 % 256);
  std::thread sender([&] { client.send(bytes); });
  EXPECT_TRUE(client.socket().read_bytes(bytes.size()));
  sender.join();
  EXPECT_TRUE(client.socket().received() == bytes);
}

TEST(ProxyTunnels, G2_bytes_sent_right_after_connect_are_forwarded_first_and_once) {
  ScriptedUpstream upstream(echo);
  RunningProxy proxy(Wishes{});
  RawClient client = proxy.client();
  client.send(connect_to(upstream) + "early bird");
  EXPECT_EQ(client.read_response_without_body().status, 200);
  client.send(", late bird");
  EXPECT_TRUE(client.socket().read_bytes(21));
  EXPECT_EQ(client.socket().received(), "early bird, late bird");
}

TEST(ProxyTunnels, G2_bytes_after_a_failed_connect_are_never_parsed_as_a_request) {
  const play::RefusingPort closed;
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) { heard.add(peer.read_request()); });
  Wishes wishes;
  wishes.route.retry.max_attempts = 3;
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send("CONNECT " + closed.authority() + " HTTP/1.1\r\nHost: " + closed.authority() + "\r\n\r\n" +
              play::get(upstream.authority()));
  const WireResponse got = client.read_response();
  EXPECT_EQ(got.status, 502);
  EXPECT_EQ(got.field("Reprise-Attempts"), "3");
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  EXPECT_EQ(heard.size(), 0U);
}

TEST(ProxyTunnels, connect_to_a_disallowed_port_gets_403) {
  ScriptedUpstream upstream(echo);
  Wishes wishes;
  wishes.settings.security.connect_ports = {{443, 443}};
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send(connect_to(upstream));
  EXPECT_EQ(client.read_response().status, 403);
  EXPECT_EQ(upstream.connections(), 0U);
}

TEST(ProxyTunnels, H1_H4_connect_to_denied_or_own_addresses_is_rejected) {
  RunningProxy proxy(Wishes{});
  const std::string self = "127.0.0.1:" + std::to_string(proxy.port());
  for (const auto& [authority, status] :
       std::vector<std::pair<std::string, int>>{{"169.254.169.254:443", 403}, {self, 508}}) {
    const WireResponse got =
        proxy.client().ask("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    EXPECT_EQ(got.status, status) << authority;
  }
}

TEST(ProxyTunnels, G4_client_fin_is_forwarded_and_the_other_direction_continues) {
  ScriptedUpstream upstream([](Peer& peer) {
    const bool clean = peer.socket.read_to_end() == Wire::fin;
    peer.send(clean ? "got all: " + peer.socket.take_all() : "broken");
  });
  RunningProxy proxy(Wishes{});
  RawClient client = open_tunnel(proxy, upstream);
  client.send("question");
  client.socket().finish_sending();
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(client.socket().received(), "got all: question");
  EXPECT_TRUE(
      play::eventually([&] { return proxy.metric("reprise_tunnels_total{outcome=\"closed\"}") == 1; }));
}

TEST(ProxyTunnels, G4_upstream_fin_is_forwarded_and_the_other_direction_continues) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.send("server speaks first");  // row G7
    peer.socket.finish_sending();
    peer.socket.read_to_end();
    heard.add(peer.socket.take_all());
  });
  RunningProxy proxy(Wishes{});
  RawClient client = open_tunnel(proxy, upstream);
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(client.socket().received(), "server speaks first");
  client.send("and the client after it");
  client.socket().close();
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  EXPECT_EQ(heard.at(0), "and the client after it");
}

TEST(ProxyTunnels, G4_reset_by_either_side_ends_the_whole_tunnel) {
  std::atomic<int> ended{0};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.socket.read_until("ready");
    if (peer.number == 1) return peer.socket.reset();
    peer.socket.read_to_end();
    ++ended;
  });
  RunningProxy proxy(Wishes{});
  RawClient first = open_tunnel(proxy, upstream);
  first.send("ready");
  EXPECT_NE(first.socket().read_to_end(), Wire::open);
  first.socket().close();
  RawClient second = open_tunnel(proxy, upstream);
  second.send("ready");
  second.socket().reset();
  EXPECT_TRUE(play::eventually([&] { return ended == 1; }));
  EXPECT_TRUE(
      play::eventually([&] { return proxy.metric("reprise_tunnels_total{outcome=\"broken\"}") == 2; }));
}

TEST(ProxyTunnels, G6_tunnel_without_traffic_ends_after_idle_timeout) {
  ScriptedUpstream upstream([](Peer& peer) { peer.socket.read_to_end(); });
  Wishes wishes;
  wishes.route.idle_timeout = milliseconds(200);
  RunningProxy proxy(std::move(wishes));
  RawClient silent = open_tunnel(proxy, upstream);
  EXPECT_NE(silent.socket().read_to_end(), Wire::open);
  EXPECT_TRUE(play::eventually([&] { return proxy.metric("reprise_tunnels_total{outcome=\"idle\"}") == 1; }));
}

TEST(ProxyTunnels, G6_tunnel_with_one_way_traffic_stays_open) {
  EXPECT_TRUE(play::under_some_limit(milliseconds(400), [](milliseconds limit) {
    ScriptedUpstream upstream([&](Peer& peer) {
      for (int i = 0; i < 8; ++i) {
        peer.send("tick");
        peer.socket.read_more(limit / 4);  // nothing comes
      }
    });
    Wishes wishes;
    wishes.route.idle_timeout = limit;
    RunningProxy proxy(std::move(wishes));
    RawClient one_way = open_tunnel(proxy, upstream);
    return one_way.socket().read_bytes(8 * 4);
  }));
}

TEST(ProxyTunnels, G6_shutdown_closes_a_tunnel_without_traffic) {
  ScriptedUpstream upstream(echo);
  Wishes wishes;
  wishes.settings.shutdown.grace = seconds(60);
  RunningProxy proxy(std::move(wishes));
  RawClient client = open_tunnel(proxy, upstream);
  client.send("x");
  EXPECT_TRUE(client.socket().read_bytes(1));
  proxy.stop();
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  EXPECT_TRUE(play::eventually([&] { return proxy.ended(); }));
}

std::string upgrade(const ScriptedUpstream& upstream, std::string_view protocol) {
  return play::get(upstream.authority(), "/",
                   "Connection: Upgrade\r\nUpgrade: " + std::string(protocol) + "\r\n");
}

TEST(ProxyTunnels, C8_bytes_after_an_upgrade_wait_for_the_101) {
  Heard heard;
  std::atomic<bool> go{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    heard.add(peer.read_request());
    heard.add(peer.socket.received());
    play::eventually([&] { return go.load(); });
    peer.send("HTTP/1.1 101 Switching\r\nUpgrade: chess\r\nConnection: Upgrade\r\n\r\ne7e5 ");
    echo(peer);
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send(upgrade(upstream, "chess") + "e2e4 ");
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 2; }));
  EXPECT_NE(heard.at(0).find("Upgrade: chess\r\n"), std::string::npos);
  EXPECT_EQ(heard.at(1), "");
  go = true;
  const WireResponse got = client.read_response();
  EXPECT_EQ(got.status, 101);
  EXPECT_EQ(got.field("Upgrade"), "chess");
  client.send("g1f3");
  EXPECT_TRUE(client.socket().read_bytes(14));
  EXPECT_EQ(client.socket().received(), "e7e5 e2e4 g1f3");
}

TEST(ProxyTunnels, C8_bytes_after_a_declined_upgrade_are_the_next_request) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(200, "no chess here"));
    }
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send(upgrade(upstream, "chess") + play::get(upstream.authority(), "/next"));
  EXPECT_EQ(client.read_response().status, 200);
  EXPECT_EQ(client.read_response().status, 200);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_TRUE(heard.at(1).starts_with("GET /next "));
}

TEST(ProxyTunnels, C9_h2c_is_not_requested_and_an_unrequested_101_gives_502) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(heard.size() == 1 ? response(200, "x")
                                  : "HTTP/1.1 101 Switching\r\nUpgrade: go\r\nConnection: Upgrade\r\n\r\n");
    }
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(upgrade(upstream, "h2c")).status, 200);
  EXPECT_EQ(heard.at(0).find("Upgrade"), std::string::npos) << heard.at(0);
  EXPECT_EQ(client.ask(upgrade(upstream, "chess")).status, 502);
}

// The last read of a body may also return the bytes that follow the body.
TEST(ProxyUpgrades, L30_bytes_after_an_upgrade_body_reach_the_upstream_first) {
  for (const bool early : {false, true}) {
    std::atomic<bool> head_is_there{false};
    std::string tunnelled;
    ScriptedUpstream upstream([&](Peer& peer) {
      std::string head = peer.read_head();
      head_is_there = true;
      EXPECT_TRUE(peer.socket.read_until("0\r\n\r\n"));
      peer.send("HTTP/1.1 101 Switching\r\nUpgrade: chess\r\nConnection: Upgrade\r\n\r\n");
      peer.socket.take(peer.socket.received().find("0\r\n\r\n") + 5);
      if (peer.socket.read_until("third")) tunnelled = peer.socket.take_all();
      peer.send("mate");
    });
    RunningProxy proxy;
    RawClient client = proxy.client();
    const std::string head =
        "POST http://" + upstream.authority() + "/ HTTP/1.1\r\nHost: " + upstream.authority() +
        "\r\nTransfer-Encoding: chunked\r\nConnection: Upgrade\r\nUpgrade: chess\r\n\r\n";
    const std::string body = "5\r\nhello\r\n0\r\n\r\nfirst ";
    if (early) {
      client.send(head + body);
    } else {
      client.send(head);
      ASSERT_TRUE(play::eventually([&] { return head_is_there.load(); }));
      client.send(body);
    }
    EXPECT_EQ(client.read_response_without_body().status, 101);
    client.send("second third");
    EXPECT_TRUE(client.socket().read_until("mate"));
    EXPECT_EQ(tunnelled, "first second third") << (early ? "with the head" : "with the body");
  }
}

}  // namespace
}  // namespace reprise::server::tunnels_test
