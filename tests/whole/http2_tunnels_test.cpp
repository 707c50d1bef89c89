// Tests tunnels of HTTP/2 clients through the whole proxy: CONNECT on a stream, to the last byte of either
// side (row M11).
#include "tests/support/http2_end.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::http2_tunnels_test {
namespace {

using namespace play;

/// Wishes for tunnels whose first bytes are examined, even if the machine stalls.
Wishes examining() {
  Wishes wishes;
  wishes.sniff_limit = seconds(60);
  wishes.route.http2 = policy::UseHttp2::never;
  return wishes;
}

std::int32_t open_tunnel(Http2Client& client, std::string_view authority) {
  const std::int32_t stream = client.begin({{":method", "CONNECT"}, {":authority", std::string(authority)}});
  EXPECT_EQ(client.head_of(stream).status(), "200");
  EXPECT_FALSE(client.message(stream).over());
  return stream;
}

bool has_no_stream(const RunningProxy& proxy) {
  return play::eventually([&] { return proxy.metric(R"(reprise_http2_streams{side="client"})") == 0; });
}

/// Reads everything and sends nothing.
class SilentUpstream {
 public:
  std::string authority() const { return upstream_.authority(); }
  /// Waits until a connection has ended.
  bool sees_the_end() const {
    return play::eventually([&] { return ended_.load(); });
  }

 private:
  std::atomic<bool> ended_{false};
  ScriptedUpstream upstream_{[this](Peer& peer) {
    peer.socket.read_to_end();
    ended_ = true;
  }};
};

void echo(Peer& peer) {
  while (peer.socket.read_more()) peer.send(peer.socket.take_all());
}

/// Sends 10,000 bytes once the client has ended its side.
void respond_at_the_end(Peer& peer) {
  peer.socket.read_to_end();
  peer.send(std::string(10'000, 'a'));
}

TEST(Http2Tunnels, M11_bytes_pass_both_ways_beside_other_streams) {
  ScriptedUpstream talker(echo);
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  RunningProxy proxy(examining());
  Http2Client client(proxy.port());
  const std::int32_t tunnel = open_tunnel(client, talker.authority());
  const auto& got = client.message(tunnel);
  for (std::size_t i = 1; i <= 3; ++i) {
    client.send(data(tunnel, std::string("\0hello", 6)));
    EXPECT_TRUE(client.until([&] { return got.body.size() == 6 * i; }));
    EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  }
  client.send(data(tunnel, std::string(16'000, 'b'), end_stream));
  client.whole(tunnel);
  EXPECT_EQ(got.body.size(), 16'018U);
  EXPECT_TRUE(got.ended);
  EXPECT_EQ(got.reset, std::nullopt);
  EXPECT_TRUE(has_no_stream(proxy));
}

TEST(Http2Tunnels, M11_end_of_stream_is_the_half_close) {
  ScriptedUpstream upstream([](Peer& peer) {
    const bool clean = peer.socket.read_to_end() == Wire::fin;
    peer.send(clean ? "got all: " + peer.socket.take_all() : "broken");
  });
  RunningProxy proxy(examining());
  Http2Client client(proxy.port());
  const std::int32_t tunnel = open_tunnel(client, upstream.authority());
  client.send(data(tunnel, std::string("\0question", 9), end_stream));
  const auto& got = client.whole(tunnel);
  EXPECT_EQ(got.body, "got all: " + std::string("\0question", 9));
  EXPECT_TRUE(got.ended);
}

TEST(Http2Tunnels, M11_end_of_the_upstream_ends_the_stream_and_the_client_goes_on) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.send("server speaks first");
    peer.socket.finish_sending();
    peer.socket.read_to_end();
    heard.add(peer.socket.take_all());
  });
  RunningProxy proxy(Wishes{});
  Http2Client client(proxy.port());
  const std::int32_t tunnel = open_tunnel(client, upstream.authority());
  const auto& got = client.whole(tunnel);
  EXPECT_EQ(got.body, "server speaks first");
  EXPECT_TRUE(got.ended);
  client.send(data(tunnel, "and the client after it", end_stream));
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  EXPECT_EQ(heard.at(0), "and the client after it");
  EXPECT_TRUE(has_no_stream(proxy));
}

TEST(Http2Tunnels, M11_broken_upstream_resets_the_stream_with_connect_error) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.socket.read_more();
    peer.socket.reset();
  });
  RunningProxy proxy(examining());
  Http2Client client(proxy.port());
  const std::int32_t tunnel = open_tunnel(client, upstream.authority());
  client.send(data(tunnel, std::string("\0hello", 6)));
  const auto& got = client.whole(tunnel);
  EXPECT_FALSE(got.ended);
  EXPECT_EQ(got.reset, Http2Code::connect_error);
  EXPECT_TRUE(client.turn());
}

TEST(Http2Tunnels, M11_client_that_resets_the_tunnel_ends_it_at_the_upstream) {
  SilentUpstream upstream;
  RunningProxy proxy(examining());
  Http2Client client(proxy.port());
  const std::int32_t tunnel = open_tunnel(client, upstream.authority());
  client.send(data(tunnel, std::string("\0hello", 6)) + rst_stream(tunnel, number_of(Http2Code::cancel)));
  EXPECT_TRUE(upstream.sees_the_end());
  EXPECT_TRUE(has_no_stream(proxy));
  EXPECT_TRUE(client.turn());
}

TEST(Http2Tunnels, M11_lost_connection_of_the_client_ends_its_tunnel) {
  SilentUpstream upstream;
  RunningProxy proxy(examining());
  {
    Http2Client client(proxy.port());
    const std::int32_t tunnel = open_tunnel(client, upstream.authority());
    client.send(data(tunnel, std::string("\0hello", 6)));
    client.turn();
    client.socket().reset();
  }
  EXPECT_TRUE(upstream.sees_the_end());
  EXPECT_TRUE(has_no_stream(proxy));
}

TEST(Http2Tunnels, M11_refused_and_failed_tunnels_get_a_response) {
  const play::RefusingPort closed;
  Wishes wishes = examining();
  wishes.settings.security.connect_ports = {{443, 443}, {closed.number(), closed.number()}};
  wishes.route.retry.max_attempts = 2;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  for (const auto& [authority, status] : std::vector<std::pair<std::string, std::string>>{
           {"127.0.0.1:1", "403"}, {closed.authority(), "502"}}) {
    const auto& got = client.whole(client.begin({{":method", "CONNECT"}, {":authority", authority}}));
    EXPECT_EQ(got.status(), status);
    EXPECT_TRUE(got.ended);
    EXPECT_EQ(got.field("content-length"), std::to_string(got.body.size()));
    EXPECT_FALSE(got.body.empty());
  }
}

TEST(Http2Tunnels, M11_response_of_a_refused_tunnel_that_the_window_holds_back_arrives_whole) {
  Wishes wishes = examining();
  wishes.settings.security.connect_ports = {{443, 443}};
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port(), {{initial_window_size, 10}});
  client.opens_windows = false;
  const std::int32_t tunnel = client.begin({{":method", "CONNECT"}, {":authority", "127.0.0.1:1"}});
  auto& got = client.message(tunnel);
  EXPECT_TRUE(client.until([&] { return got.body.size() == 10; }));
  client.send(window_update(tunnel, 10'000));
  client.whole(tunnel);
  EXPECT_TRUE(got.ended);
  EXPECT_EQ(got.field("content-length"), std::to_string(got.body.size()));
}

/// A client whose streams get 100 bytes until it opens their windows.
class NarrowTunnel : public ::testing::Test {
 protected:
  /// Opens a tunnel, and waits until the window of its stream is closed.
  void fill(const ScriptedUpstream& upstream, unsigned flags) {
    client_.opens_windows = false;
    tunnel_ = open_tunnel(client_, upstream.authority());
    client_.send(data(tunnel_, std::string(1, '\0'), flags));
    EXPECT_TRUE(client_.until([&] { return got().body.size() == 100; }));
  }
  Http2Message& got() { return client_.message(tunnel_); }
  bool tunnel_has_ended() {
    return play::eventually(
        [&] { return proxy_.metrics().find("reprise_tunnels_total{outcome=") != std::string::npos; });
  }

  RunningProxy proxy_{[] {
    Wishes wishes = examining();
    wishes.settings.shutdown.grace = milliseconds(50);
    return wishes;
  }()};
  Http2Client client_{proxy_.port(), {{initial_window_size, 100}}};
  std::int32_t tunnel_ = 0;
};

TEST_F(NarrowTunnel, M11_bytes_that_the_window_holds_back_arrive_after_the_tunnel_has_ended) {
  ScriptedUpstream upstream(respond_at_the_end);
  fill(upstream, end_stream);
  EXPECT_TRUE(tunnel_has_ended());
  client_.send(window_update(tunnel_, 20'000));
  client_.whole(tunnel_);
  EXPECT_EQ(got().body.size(), 10'000U);
  EXPECT_TRUE(got().ended);
  EXPECT_EQ(got().reset, std::nullopt);
}

TEST_F(NarrowTunnel, M11_client_learns_that_the_upstream_broke_once_it_has_all_bytes) {
  std::atomic<bool> is_full{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.socket.read_more();
    peer.send(std::string(10'000, 'a'));
    play::eventually([&] { return is_full.load(); });
    peer.socket.reset();
  });
  fill(upstream, 0);
  is_full = true;
  EXPECT_TRUE(play::eventually([&] { return upstream.running() == 0; }));
  client_.send(window_update(tunnel_, 20'000));
  client_.whole(tunnel_);
  EXPECT_EQ(got().body.size(), 10'000U);
  EXPECT_FALSE(got().ended);
  EXPECT_EQ(got().reset, Http2Code::connect_error);
}

TEST_F(NarrowTunnel, M64_drain_ends_although_bytes_wait_for_the_window) {
  ScriptedUpstream upstream(respond_at_the_end);
  fill(upstream, end_stream);
  EXPECT_TRUE(tunnel_has_ended());
  proxy_.stop();
  client_.read_to_end();
  EXPECT_EQ(got().body.size(), 100U);
  EXPECT_FALSE(got().ended);
  proxy_.join();
}

TEST_F(NarrowTunnel, M65_reset_ends_the_bytes_that_wait_for_the_window) {
  ScriptedUpstream upstream(respond_at_the_end);
  fill(upstream, end_stream);
  EXPECT_TRUE(tunnel_has_ended());
  client_.send(rst_stream(tunnel_, number_of(Http2Code::cancel)));
  EXPECT_TRUE(client_.turn());
  EXPECT_TRUE(has_no_stream(proxy_));
  EXPECT_EQ(got().body.size(), 100U);
}

TEST_F(NarrowTunnel, M98_window_that_stays_closed_ends_the_tunnel_after_the_idle_timeout) {
  Wishes wishes = examining();
  wishes.route.idle_timeout = milliseconds(100);
  RunningProxy proxy(std::move(wishes));
  ScriptedUpstream upstream([](Peer& peer) {
    peer.socket.read_more();
    peer.send(std::string(10'000, 'a'));
    peer.socket.read_to_end();
  });
  Http2Client client(proxy.port(), {{initial_window_size, 100}});
  client.opens_windows = false;
  const std::int32_t tunnel = client.begin({{":method", "CONNECT"}, {":authority", upstream.authority()}});
  client.send(data(tunnel, std::string(1, '\0')));
  EXPECT_TRUE(play::eventually([&] { return upstream.connections() == 1 && upstream.running() == 0; }));
  EXPECT_TRUE(
      play::eventually([&] { return proxy.metric(R"(reprise_tunnels_total{outcome="idle"})") == 1; }));
}

TEST(Http2Tunnels, M48_large_download_waits_for_the_window_and_arrives_whole) {
  std::string bytes(300'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 % 251);
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.socket.read_more();
    peer.send(bytes);
  });
  RunningProxy proxy(examining());
  Http2Client client(proxy.port());
  client.opens_windows = false;
  const std::int32_t tunnel = open_tunnel(client, upstream.authority());
  client.send(data(tunnel, std::string(1, '\0')));
  const auto& got = client.message(tunnel);
  for (std::size_t size = 65'535; size < bytes.size(); size += 60'000) {
    EXPECT_TRUE(client.until([&] { return got.body.size() >= size; }));
    EXPECT_EQ(got.body.size(), size);
    client.send(window_update(0, 60'000) + window_update(tunnel, 60'000));
  }
  client.whole(tunnel);
  EXPECT_TRUE(got.body == bytes) << got.body.size();
  EXPECT_TRUE(got.ended);
}

TEST(Http2Tunnels, M11_requests_inside_the_tunnel_are_served_and_retried) {
  ScriptedUpstream upstream(responses({response(503, "busy"), response(200, "whole")}));
  RunningProxy proxy(examining());
  Http2Client client(proxy.port());
  const std::int32_t tunnel = open_tunnel(client, upstream.authority());
  client.send(data(tunnel, "GET /x HTTP/1.1\r\nHost: " + upstream.authority() + "\r\n\r\n"));
  const auto& got = client.message(tunnel);
  EXPECT_TRUE(client.until([&] { return got.body.ends_with("whole"); }));
  EXPECT_TRUE(got.body.starts_with("HTTP/1.1 200")) << got.body;
  EXPECT_EQ(play::field_of(got.body, "Reprise-Attempts"), "2");
}

TEST(Http2Tunnels, M11_last_response_inside_the_tunnel_ends_the_stream_in_order) {
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  RunningProxy proxy(examining());
  Http2Client client(proxy.port());
  const std::int32_t tunnel = open_tunnel(client, upstream.authority());
  client.send(
      data(tunnel, "GET /x HTTP/1.1\r\nHost: " + upstream.authority() + "\r\nConnection: close\r\n\r\n"));
  const auto& got = client.whole(tunnel);
  EXPECT_TRUE(got.body.ends_with("whole")) << got.body;
  EXPECT_TRUE(got.ended);
  EXPECT_EQ(got.reset, std::nullopt);
}

TEST(Http2Tunnels, M64_tunnel_that_outlives_the_grace_is_cut) {
  ScriptedUpstream upstream([](Peer& peer) { peer.socket.read_to_end(); });
  Wishes wishes = examining();
  wishes.settings.shutdown.grace = milliseconds(50);
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const std::int32_t tunnel = open_tunnel(client, upstream.authority());
  client.send(data(tunnel, std::string("\0hello", 6)));
  proxy.stop();
  client.read_to_end();
  EXPECT_FALSE(client.message(tunnel).ended);
  EXPECT_FALSE(client.goaways.empty());
  proxy.join();
}

/// Opens a tunnel with HTTP/1, and speaks HTTP/2 inside.
RawSocket tunnel_of_http1(const RunningProxy& proxy, std::string_view authority) {
  RawSocket socket = RawSocket::connect_to(proxy.port());
  const std::string name(authority);
  socket.send("CONNECT " + name + " HTTP/1.1\r\nHost: " + name + "\r\n\r\n");
  EXPECT_TRUE(socket.read_until("\r\n\r\n"));
  EXPECT_TRUE(socket.take_all().starts_with("HTTP/1.1 200"));
  return socket;
}

TEST(Http2Tunnels, M6_requests_inside_a_tunnel_are_served_and_the_first_uses_its_connection) {
  ScriptedUpstream upstream(
      for_each_request([](Http2Upstream& end, std::int32_t stream) { end.respond(stream, 200, "whole"); }));
  Wishes wishes = examining();
  wishes.route.http2 = policy::UseHttp2::automatic;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(tunnel_of_http1(proxy, upstream.authority()));
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  EXPECT_EQ(upstream.connections(), 1U);
  EXPECT_EQ(proxy.metric(R"(reprise_streams_total{protocol="http2"})"), 1);
}

TEST(Http2Tunnels, M6_websocket_and_connect_inside_a_tunnel_are_requests_of_their_streams) {
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  RunningProxy proxy(examining());
  Http2Client client(tunnel_of_http1(proxy, upstream.authority()));
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  const auto& got = client.whole(client.begin({{":method", "CONNECT"}, {":authority", "127.0.0.1:1"}}));
  EXPECT_TRUE(got.over());
  EXPECT_NE(got.status(), "200");
}

}  // namespace
}  // namespace reprise::server::http2_tunnels_test
