// Tests protocol detection in a tunnel: plain HTTP is served like any other request, everything else passes
// unchanged.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

/// Returns settings with a long sniff limit, so that a slow machine does not end the detection.
Wishes patient() {
  Wishes wishes;
  wishes.sniff_limit = std::chrono::minutes(1);
  return wishes;
}

std::string connect_to(std::string_view authority) {
  return "CONNECT " + std::string(authority) + " HTTP/1.1\r\nHost: " + std::string(authority) + "\r\n\r\n";
}

RawClient open_tunnel(const RunningProxy& proxy, const ScriptedUpstream& upstream) {
  RawClient client = proxy.client();
  client.send(connect_to(upstream.authority()));
  EXPECT_EQ(client.read_response_without_body().status, 200);
  return client;
}

std::string inside(std::string_view path, std::string_view fields = {}, std::string_view method = "GET") {
  std::string text(method);
  return text.append(" ")
      .append(path)
      .append(" HTTP/1.1\r\nHost: shop.test\r\n")
      .append(fields)
      .append("\r\n");
}

constexpr std::string_view turned_http = "reprise_tunnels_total{outcome=\"http\"}";

TEST(ProxyFirstWords, G7_plain_http_in_a_tunnel_is_retried_like_any_request) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(heard.size() < 3 ? response(503, "busy") : response(200, "hello"));
    }
  });
  RunningProxy proxy(patient());
  RawClient client = open_tunnel(proxy, upstream);
  const WireResponse got = client.ask(inside("/a?b"));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "hello");
  EXPECT_EQ(got.field("Reprise-Attempts"), "3");
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_TRUE(heard.at(0).starts_with("GET /a?b HTTP/1.1\r\nHost: shop.test\r\n")) << heard.at(0);
  EXPECT_NE(heard.at(0).find("\r\nVia: 1.1 reprise-"), std::string::npos) << heard.at(0);
  // An attempt never reuses the connection of the attempt directly before it. The connection that was dialled
  // for the CONNECT therefore carries the first and the third attempt.
  EXPECT_EQ(upstream.connections(), 2U);
  EXPECT_EQ(proxy.metric(turned_http), 1);
  EXPECT_EQ(proxy.metric("reprise_retries_total{route=\"default\",reason=\"retryable_status\"}"), 2);
}

TEST(ProxyFirstWords, G2_request_sent_right_after_connect_is_served_once) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(200, "x"));
    }
  });
  RunningProxy proxy(Wishes{});
  RawClient client = proxy.client();
  client.send(connect_to(upstream.authority()) + inside("/first") + inside("/second"));
  EXPECT_EQ(client.read_response_without_body().status, 200);
  EXPECT_EQ(client.read_response().status, 200);
  EXPECT_EQ(client.read_response().status, 200);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_TRUE(heard.at(0).starts_with("GET /first "));
  EXPECT_TRUE(heard.at(1).starts_with("GET /second "));
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(ProxyFirstWords, G7_request_line_arriving_in_pieces_is_recognised) {
  ScriptedUpstream upstream(play::responses({response(200, "whole")}));
  RunningProxy proxy(patient());
  RawClient client = open_tunnel(proxy, upstream);
  const std::string request = inside("/slow");
  EXPECT_TRUE(client.socket().send_bytewise(request.substr(0, 20)));
  client.send(request.substr(20));
  EXPECT_EQ(client.read_response().body, "whole");
  EXPECT_EQ(proxy.metric(turned_http), 1);
}

TEST(ProxyFirstWords, G7_later_request_in_a_tunnel_is_rejected_if_it_names_another_authority) {
  ScriptedUpstream other(play::responses({response(200, "elsewhere")}));
  ScriptedUpstream upstream(play::responses({response(200, "here")}));
  RunningProxy proxy(patient());
  RawClient client = open_tunnel(proxy, upstream);
  EXPECT_EQ(client.ask(inside("/1")).body, "here");
  EXPECT_EQ(client.ask(inside("/2", "Via: 1.1 somebody\r\n")).body, "here");
  EXPECT_EQ(client.ask(play::get(other.authority())).status, 400);
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  EXPECT_EQ(other.connections(), 0U);
  EXPECT_EQ(proxy.metric("reprise_rejected_requests_total{cause=\"bad_target\"}"), 1);
}

TEST(ProxyFirstWords, G7_tls_handshake_after_a_plain_request_in_a_tunnel_gets_400) {
  ScriptedUpstream upstream(play::responses({response(200, "plain")}));
  RunningProxy proxy(patient());
  RawClient client = open_tunnel(proxy, upstream);
  EXPECT_EQ(client.ask(inside("/")).body, "plain");
  client.send(std::string("\x16\x03\x01\x00\x05hello", 10));
  EXPECT_EQ(client.read_response().status, 400);
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
}

// The upstream's close is passed on if neither side has sent a byte. Here the client sends its request
// together with the CONNECT, so the request is retried.
TEST(ProxyFirstWords, G7_request_sent_with_connect_is_retried_if_the_upstream_closes_the_connection) {
  ScriptedUpstream upstream([&](Peer& peer) {
    if (peer.number == 1) return peer.socket.reset();
    peer.read_request();
    peer.send(response(200, "second connection"));
  });
  RunningProxy proxy(patient());
  RawClient client = proxy.client();
  client.send(connect_to(upstream.authority()) + inside("/"));
  EXPECT_EQ(client.read_response_without_body().status, 200);
  EXPECT_EQ(client.read_response().body, "second connection");
}

TEST(ProxyFirstWords, D1_post_in_a_tunnel_that_may_have_arrived_is_not_retried) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    heard.add(peer.read_request());
    peer.socket.reset();
  });
  RunningProxy proxy(patient());
  RawClient client = open_tunnel(proxy, upstream);
  const WireResponse got = client.ask(inside("/", "Content-Length: 1\r\n", "POST") + "x");
  EXPECT_EQ(got.status, 502);
  EXPECT_EQ(got.field("Reprise-Reason"), "not_idempotent");
  EXPECT_EQ(heard.size(), 1U);
}

TEST(ProxyFirstWords, C8_upgrade_in_a_tunnel_is_tunnelled) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    while (peer.socket.read_more()) peer.send(peer.socket.take_all());
  });
  RunningProxy proxy(patient());
  RawClient client = open_tunnel(proxy, upstream);
  client.send(inside("/chat", "Connection: Upgrade\r\nUpgrade: websocket\r\n"));
  EXPECT_EQ(client.read_response().status, 101);
  client.send("frame");
  EXPECT_TRUE(client.socket().read_bytes(5));
}

/// Returns what the upstream receives in a tunnel up to the client's FIN.
std::string carried(const RunningProxy& proxy, std::string_view words) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.socket.read_to_end();
    heard.add(peer.socket.take_all());
  });
  RawClient client = proxy.client();
  client.send(connect_to(upstream.authority()));
  EXPECT_EQ(client.read_response_without_body().status, 200);
  client.send(words);
  client.socket().finish_sending();
  client.socket().read_to_end();
  EXPECT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  return heard.at(0);
}

TEST(ProxyFirstWords, G7_other_protocols_pass_unchanged) {
  RunningProxy proxy(patient());
  for (const std::string& words : std::vector<std::string>{
           std::string("\x16\x03\x01\x00\x01x", 6), "EHLO me\r\n",
           "GET http://another.test/ HTTP/1.1\r\nHost: another.test\r\n\r\n",
           "CONNECT another.test:443 HTTP/1.1\r\nHost: another.test\r\n\r\n", "G", "", "GET / HT"}) {
    EXPECT_EQ(carried(proxy, words), words);
  }
  EXPECT_EQ(proxy.metric(turned_http), 0);
}

TEST(ProxyFirstWords, G7_server_that_sends_first_is_tunnelled) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.send("220 mail ready\r\n");
    peer.socket.read_to_end();
    heard.add(peer.socket.take_all());
  });
  RunningProxy proxy(patient());
  RawClient client = open_tunnel(proxy, upstream);
  EXPECT_TRUE(client.socket().read_until("ready\r\n"));
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  client.socket().finish_sending();
  client.socket().read_to_end();
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  EXPECT_EQ(heard.at(0), "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(proxy.metric(turned_http), 0);
}

TEST(ProxyFirstWords, G7_silent_client_or_incomplete_request_line_becomes_a_tunnel) {
  for (const std::string words : {"", "GET / HTTP/1"}) {
    Heard heard;
    std::atomic<bool> go{false};
    ScriptedUpstream upstream([&](Peer& peer) {
      if (words.empty()) {
        play::eventually([&] { return go.load(); });
        peer.send("late");
      } else {
        peer.socket.read_bytes(words.size());
        heard.add(peer.socket.take_all());
      }
      peer.socket.read_to_end();
    });
    Wishes wishes;
    RunningProxy proxy(std::move(wishes));
    RawClient client = open_tunnel(proxy, upstream);
    client.send(words);
    if (words.empty()) {
      go = true;
      EXPECT_TRUE(client.socket().read_until("late"));
    } else {
      // The proxy forwards these first bytes after a time limit, although more bytes could still make them an
      // HTTP request.
      ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
      EXPECT_EQ(heard.at(0), words);
    }
    EXPECT_EQ(proxy.metric(turned_http), 0);
  }
}

TEST(ProxyFirstWords, G7_tunnel_is_not_inspected_if_the_mode_of_its_route_is_off) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    heard.add(peer.read_request());
    peer.send(response(503, "its own"));
  });
  Wishes wishes = patient();
  wishes.route.mode = policy::Mode::off;
  RunningProxy proxy(std::move(wishes));
  RawClient client = open_tunnel(proxy, upstream);
  EXPECT_EQ(client.ask(inside("/")).status, 503);
  EXPECT_EQ(heard.at(0), inside("/"));
  EXPECT_EQ(proxy.metric(turned_http), 0);
}

TEST(ProxyFirstWords, G2_client_that_half_closes_right_after_connect_is_served) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.socket.read_to_end();
    peer.send("bye");
  });
  RunningProxy proxy(patient());
  RawClient client = proxy.client();
  client.send(connect_to(upstream.authority()));
  client.socket().finish_sending();
  EXPECT_EQ(client.read_response_without_body().status, 200);
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(client.socket().received(), "bye");
}

TEST(ProxyFirstWords, D14_client_reset_during_a_dial_backoff_stops_it) {
  const play::RefusingPort closed;
  Wishes wishes;
  wishes.route.retry.backoff.initial = std::chrono::minutes(10);
  wishes.route.retry.backoff.maximum = std::chrono::minutes(10);
  wishes.route.retry.deadline.reset();
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send(connect_to(closed.authority()));
  ASSERT_TRUE(play::eventually([&] { return proxy.metric("reprise_client_connections") == 1; }));
  client.socket().reset();
  EXPECT_TRUE(play::eventually(
      [&] { return proxy.metric("reprise_requests_total{route=\"default\",code=\"client_gone\"}") == 1; }));
}

}  // namespace
}  // namespace reprise::server
