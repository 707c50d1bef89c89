// Tests that a ClientHello without a response is sent again over another connection, on a route with
// `tunnel.replay_client_hello`.
#include "tests/support/client_hello.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

Wishes replaying() {
  Wishes wishes;
  wishes.route.replay_client_hello = true;
  wishes.sniff_limit = std::chrono::minutes(1);
  return wishes;
}

std::string attempts(std::string_view outcome) {
  return "reprise_attempts_total{route=\"default\",outcome=\"" + std::string(outcome) + "\"}";
}

/// Opens a tunnel and sends `words` in it.
RawClient say(const RunningProxy& proxy, const ScriptedUpstream& upstream, std::string_view words) {
  RawClient client = proxy.client();
  client.send("CONNECT " + upstream.authority() + " HTTP/1.1\r\nHost: x\r\n\r\n");
  const WireResponse got = client.read_response_without_body();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  client.send(words);
  return client;
}

/// Returns a script that records the ClientHello of each connection. The connection with this number sends a
/// server hello. Every other connection sends nothing, and is reset if its number is even.
ScriptedUpstream::Script responses_at(unsigned number, Heard& heard, std::size_t bytes) {
  return [&heard, number, bytes](Peer& peer) {
    peer.socket.read_bytes(bytes);
    heard.add(peer.socket.take_all());
    if (peer.number == number) {
      peer.send("server hello");
      while (peer.socket.read_more()) peer.send(peer.socket.take_all());
    } else if (peer.number % 2 == 0) {
      peer.socket.reset();
    }
  };
}

TEST(ProxyClientHello, client_hello_without_a_response_is_sent_again_once_on_each_new_connection) {
  const std::string hello = play::client_hello();
  Heard heard;
  ScriptedUpstream upstream(responses_at(3, heard, hello.size()));
  RunningProxy proxy(replaying());
  RawClient client = say(proxy, upstream, hello);
  EXPECT_TRUE(client.socket().read_until("server hello"));
  client.socket().take_all();
  client.send("finished");
  EXPECT_TRUE(client.socket().read_bytes(8));
  EXPECT_EQ(client.socket().received(), "finished");
  ASSERT_EQ(heard.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(heard.at(i) == hello) << i;
  client.socket().close();
  EXPECT_TRUE(
      play::eventually([&] { return proxy.metric("reprise_tunnels_total{outcome=\"closed\"}") == 1; }));
  EXPECT_EQ(proxy.metric(attempts("tls")), 2);
  EXPECT_EQ(proxy.metric("reprise_retries_total{route=\"default\",reason=\"retryable_failure\"}"), 2);
  EXPECT_EQ(proxy.metric("reprise_recovered_total{route=\"default\"}"), 1);
}

TEST(ProxyClientHello, client_hello_sent_right_after_connect_is_replayed_too) {
  const std::string hello = play::client_hello();
  Heard heard;
  ScriptedUpstream upstream(responses_at(2, heard, hello.size()));
  RunningProxy proxy(replaying());
  RawClient client = proxy.client();
  client.send("CONNECT " + upstream.authority() + " HTTP/1.1\r\nHost: x\r\n\r\n" + hello);
  EXPECT_EQ(client.read_response_without_body().status, 200);
  EXPECT_TRUE(client.socket().read_until("server hello"));
  EXPECT_EQ(heard.size(), 2U);
}

TEST(ProxyClientHello, client_hello_is_replayed_up_to_max_attempts) {
  const std::string hello = play::client_hello();
  Heard heard;
  ScriptedUpstream upstream(responses_at(99, heard, hello.size()));
  RunningProxy proxy(replaying());
  RawClient client = say(proxy, upstream, hello);
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  EXPECT_EQ(client.socket().received(), "");
  EXPECT_TRUE(play::eventually([&] { return heard.size() == 6; }));
  EXPECT_TRUE(play::eventually(
      [&] { return proxy.metric("reprise_requests_total{route=\"default\",code=\"cut\"}") == 1; }));
  EXPECT_EQ(proxy.metric("reprise_exhausted_total{route=\"default\",reason=\"attempts_spent\"}"), 1);
}

TEST(ProxyClientHello, client_hello_is_sent_once_unless_replay_is_enabled) {
  const std::string hello = play::client_hello();
  Heard heard;
  ScriptedUpstream upstream(responses_at(2, heard, hello.size()));
  Wishes wishes = replaying();
  wishes.route.replay_client_hello = false;
  RunningProxy proxy(std::move(wishes));
  RawClient client = say(proxy, upstream, hello);
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  EXPECT_EQ(heard.size(), 1U);
}

TEST(ProxyClientHello, client_hello_is_sent_once_if_tls_failures_are_not_retryable) {
  const std::string hello = play::client_hello();
  Heard heard;
  ScriptedUpstream upstream(responses_at(2, heard, hello.size()));
  Wishes wishes = replaying();
  wishes.route.retry.on.tls = false;
  RunningProxy proxy(std::move(wishes));
  RawClient client = say(proxy, upstream, hello);
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  EXPECT_EQ(heard.size(), 1U);
}

TEST(ProxyClientHello, F8_client_hello_with_early_data_or_extra_bytes_and_other_protocols_are_sent_once) {
  RunningProxy proxy(replaying());
  const std::string early_data =
      play::record(play::hello_message(play::some_extensions() + play::extension(42, "")));
  for (const std::string& words :
       {early_data, play::client_hello() + "and more", std::string("\x17\x03\x03\x00\x01x", 6)}) {
    Heard heard;
    ScriptedUpstream upstream(responses_at(2, heard, words.size()));
    RawClient client = say(proxy, upstream, words);
    EXPECT_NE(client.socket().read_to_end(), Wire::open);
    ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
    EXPECT_EQ(heard.at(0), words);
    EXPECT_EQ(upstream.connections(), 1U);
  }
}

TEST(ProxyClientHello, client_hello_is_never_replayed_after_a_byte_from_the_upstream) {
  const std::string hello = play::client_hello();
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.socket.read_bytes(hello.size());
    peer.send("\x15");
  });
  RunningProxy proxy(replaying());
  RawClient client = say(proxy, upstream, hello);
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(client.socket().received(), "\x15");
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(ProxyClientHello, stream_is_tunnelled_if_the_client_sends_more_before_the_response_to_its_client_hello) {
  const std::string hello = play::client_hello();
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.socket.read_bytes(hello.size() + 4);
    heard.add(peer.socket.take_all());
  });
  RunningProxy proxy(replaying());
  RawClient client = say(proxy, upstream, hello);
  client.send("more");
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  EXPECT_TRUE(heard.at(0) == hello + "more");
}

TEST(ProxyClientHello, G7_plain_http_is_served_with_client_hello_replay_enabled) {
  ScriptedUpstream upstream(play::responses({response(503, "busy"), response(200, "here")}));
  RunningProxy proxy(replaying());
  RawClient client = say(proxy, upstream, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const WireResponse got = client.read_response();
  EXPECT_EQ(got.body, "here");
  EXPECT_EQ(got.field("Reprise-Attempts"), "2");
}

TEST(ProxyClientHello, D14_client_reset_stops_the_client_hello_replay) {
  const std::string hello = play::client_hello();
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.socket.read_bytes(hello.size());
    heard.add("hello");
    peer.socket.read_to_end();
    heard.add("end");
  });
  RunningProxy proxy(replaying());
  RawClient client = say(proxy, upstream, hello);
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  client.socket().reset();
  EXPECT_TRUE(play::eventually([&] { return heard.size() == 2; }));
  EXPECT_EQ(upstream.connections(), 1U);
}

}  // namespace
}  // namespace reprise::server
