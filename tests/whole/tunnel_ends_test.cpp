// Tests how tunnels end: resets with bytes in flight, limits, shutdown.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::tunnel_ends_test {
namespace {

// A byte that cannot start an HTTP method, so the tunnel begins at once.
constexpr std::string_view binary("\x16", 1);

RawClient open_tunnel(const RunningProxy& proxy, const ScriptedUpstream& upstream) {
  RawClient client = proxy.client();
  client.send("CONNECT " + upstream.authority() + " HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(binary));
  EXPECT_EQ(client.read_response_without_body().status, 200);
  return client;
}

std::string tunnels(std::string_view outcome) {
  return "reprise_tunnels_total{outcome=\"" + std::string(outcome) + "\"}";
}

std::string pattern(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 7 % 253);
  return text;
}

TEST(ProxyTunnelEnds, G4_bytes_sent_before_a_client_reset_are_delivered) {
  const std::string bytes = pattern(60'000);
  std::atomic<bool> reset{false};
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    play::eventually([&] { return reset.load(); });
    for (int i = 0; i < 20; ++i)
      peer.send(std::string(5000, 'x'));  // the other end has already reset the tunnel
    peer.socket.read_to_end();
    heard.add(peer.socket.take_all());
  });
  RunningProxy proxy(Wishes{});
  RawClient client = open_tunnel(proxy, upstream);
  client.send(bytes);
  // Waits until the proxy's kernel has acknowledged every byte, so that the reset cannot overtake any byte.
  ASSERT_TRUE(play::eventually([&] { return client.socket().unacknowledged() == 0; }));
  client.socket().reset();
  reset = true;
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  EXPECT_TRUE(heard.at(0) == std::string(binary) + bytes) << heard.at(0).size();
  EXPECT_TRUE(play::eventually([&] { return proxy.metric(tunnels("broken")) == 1; }));
}

TEST(ProxyTunnelEnds, G4_bytes_sent_before_an_upstream_reset_are_delivered) {
  const std::string bytes = pattern(60'000);
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.send(bytes);
    play::eventually([&] { return peer.socket.unacknowledged() == 0; });
    peer.socket.read_bytes(1);
    peer.socket.reset();
  });
  RunningProxy proxy(Wishes{});
  RawClient client = open_tunnel(proxy, upstream);
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  EXPECT_TRUE(client.socket().received() == bytes) << client.socket().received().size();
  client.socket().close();
  EXPECT_TRUE(play::eventually([&] { return proxy.metric(tunnels("broken")) == 1; }));
}

// The client sends nothing for many times idle_timeout, but it reads slowly. The tunnel must not end while
// the proxy still writes to the client.
TEST(ProxyTunnelEnds, G6_tunnel_is_not_idle_while_a_client_that_sends_nothing_reads_slowly) {
  constexpr std::size_t many = 30'000'000;
  EXPECT_TRUE(play::under_some_limit(milliseconds(200), [&](milliseconds limit) {
    ScriptedUpstream upstream([&](Peer& peer) {
      peer.socket.read_bytes(1);
      peer.send(std::string(many, 'd'));
      peer.socket.read_to_end();
    });
    Wishes wishes;
    wishes.route.idle_timeout = limit;
    RunningProxy proxy(std::move(wishes));
    RawClient client = open_tunnel(proxy, upstream);
    for (std::size_t i = 1; i <= 10; ++i) {
      RawClient nothing = proxy.client();
      nothing.socket().read_more(limit / 5);
      if (!client.socket().read_bytes(many / 20 * i)) return false;
    }
    return client.socket().read_bytes(many);
  }));
}

TEST(ProxyTunnelEnds, G6_tunnel_becomes_idle_if_its_client_does_not_read) {
  ScriptedUpstream upstream([](Peer& peer) { peer.send(std::string(60'000'000, 'd')); });
  Wishes wishes;
  wishes.route.idle_timeout = milliseconds(200);
  RunningProxy proxy(std::move(wishes));
  RawClient client = open_tunnel(proxy, upstream);
  EXPECT_TRUE(play::eventually([&] { return proxy.metric(tunnels("idle")) == 1; }));
}

TEST(ProxyTunnelEnds, G6_draining_tunnel_ends_and_is_counted_when_it_becomes_quiet) {
  std::atomic<bool> over{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.socket.read_bytes(1);
    if (peer.number == 1) peer.send("the response");
    if (peer.number == 2) {
      while (!over && peer.socket.send("talk")) peer.socket.read_more(milliseconds(20));
    }
    peer.socket.read_to_end();
  });
  Wishes wishes;
  wishes.settings.shutdown.grace = 10 * play::RawSocket::patience;  // never reached
  RunningProxy proxy(std::move(wishes));
  RawClient quiet = open_tunnel(proxy, upstream);
  ASSERT_TRUE(quiet.socket().read_bytes(12));
  RawClient talking = open_tunnel(proxy, upstream);
  std::thread reader([&] { talking.socket().read_to_end(); });
  proxy.stop();
  EXPECT_NE(quiet.socket().read_to_end(), Wire::open);
  EXPECT_TRUE(play::eventually([&] { return proxy.metric(tunnels("drained")) == 1; }));
  over = true;
  talking.socket().wake();
  reader.join();
}

TEST(ProxyTunnelEnds, G5_upstream_that_closes_at_once_costs_one_dial_per_connect) {
  ScriptedUpstream upstream([](Peer&) {});
  RunningProxy proxy(Wishes{});
  for (int i = 0; i < 100; ++i) {
    RawClient client = open_tunnel(proxy, upstream);
    EXPECT_NE(client.socket().read_to_end(), Wire::open);
  }
  EXPECT_EQ(upstream.connections(), 100U);
}

TEST(ProxyTunnelEnds, G1_invalid_authority_gets_400_and_is_not_dialled) {
  ScriptedUpstream upstream([](Peer&) {});
  RunningProxy proxy(Wishes{});
  const std::string port = std::to_string(upstream.port());
  for (const std::string& authority : std::vector<std::string>{
           "127.0.0.1:", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999", "[::1", "u@127.0.0.1:" + port,
           "http://127.0.0.1:" + port + "/", "127.0.0.1:" + port + "/", "127.0.0.1:" + port + ":" + port}) {
    RawClient client = proxy.client();
    client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(binary));
    EXPECT_EQ(client.read_response().status, 400) << authority;
    EXPECT_NE(client.socket().read_to_end(), Wire::open);
  }
  EXPECT_EQ(upstream.connections(), 0U);
}

}  // namespace
}  // namespace reprise::server::tunnel_ends_test
