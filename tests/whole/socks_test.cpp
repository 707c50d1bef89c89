// Tests SOCKS5 clients through the whole proxy: greetings, rejections in SOCKS replies, and the protocol of
// the stream that follows.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

using std::string;

Wishes socks() {
  Wishes wishes;
  wishes.mode = config::ListenerMode::socks;
  return wishes;
}

const string greeting("\x05\x01\x00", 3);
const string welcome("\x05\x00", 2);

string reply(char code) { return string({5, code}) + string("\x00\x01\x00\x00\x00\x00\x00\x00", 8); }

string connect_to(std::uint16_t port, const string& address = string("\x7f\x00\x00\x01", 4)) {
  return string("\x05\x01\x00\x01", 4) + address +
         string({static_cast<char>(port >> 8U), static_cast<char>(port & 0xffU)});
}

/// Sends the bytes and returns everything received until the connection ends.
string told(const RunningProxy& proxy, const string& sent) {
  RawClient client = proxy.client();
  client.send(sent);
  client.socket().read_to_end();
  return client.socket().received();
}

double rejected(const RunningProxy& proxy, const string& cause) {
  return proxy.metric("reprise_rejected_requests_total{cause=\"" + cause + "\"}");
}

TEST(ProxySocks, requests_through_socks_are_retried_and_the_connection_is_kept) {
  ScriptedUpstream upstream(play::responses({response(503, ""), response(200, "one"), response(200, "two")}));
  const RunningProxy proxy(socks());
  RawClient client = proxy.client();
  client.send(greeting + connect_to(upstream.port()));
  ASSERT_TRUE(client.socket().read_bytes(12));
  EXPECT_EQ(client.socket().take(12), welcome + reply(0));
  const WireResponse first = client.ask("GET /a HTTP/1.1\r\nHost: shop.test\r\n\r\n");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.field("Reprise-Attempts"), "2");
  EXPECT_EQ(client.ask("GET /b HTTP/1.1\r\nHost: shop.test\r\n\r\n").body, "two");
}

TEST(ProxySocks, bytes_of_a_server_that_sends_first_reach_the_client) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.send("220 ready\r\n");
    peer.socket.read_to_end();
  });
  const RunningProxy proxy(socks());
  RawClient client = proxy.client();
  client.send(greeting + connect_to(upstream.port()));
  ASSERT_TRUE(client.socket().read_bytes(12 + 11));
  EXPECT_EQ(client.socket().received().substr(12), "220 ready\r\n");
  EXPECT_EQ(proxy.metric("reprise_streams_total{protocol=\"server_first\"}"), 1);
}

TEST(ProxySocks, rejections_are_sent_as_socks_replies) {
  const RunningProxy proxy(socks());
  EXPECT_EQ(told(proxy, "GET / HTTP/1.1\r\n\r\n"), "");
  EXPECT_EQ(rejected(proxy, "socks_version"), 1);
  EXPECT_EQ(told(proxy, string("\x05\x01\x02", 3)), "\x05\xff");
  EXPECT_EQ(rejected(proxy, "socks_method"), 1);
  EXPECT_EQ(told(proxy, greeting + string("\x05\x02\x00\x01", 4) + string(6, '\x01')), welcome + reply(7));
  EXPECT_EQ(rejected(proxy, "socks_command"), 1);
  EXPECT_EQ(told(proxy, greeting + connect_to(80, string("\xa9\xfe\xa9\xfe", 4))), welcome + reply(2))
      << "denied";
  EXPECT_EQ(told(proxy, greeting + connect_to(proxy.admin_port())), welcome + reply(2)) << "ourselves";
}

TEST(ProxySocks, disallowed_port_and_refused_connection_get_socks_replies) {
  Wishes wishes = socks();
  wishes.settings.security.connect_ports.emplace().push_back({443, 443});
  const RunningProxy few(std::move(wishes));
  EXPECT_EQ(told(few, greeting + connect_to(80)), welcome + reply(2));
  EXPECT_EQ(rejected(few, "connect_port_denied"), 1);
  const play::RefusingPort port;
  Wishes impatient = socks();
  impatient.route.retry.max_attempts = 2;
  const RunningProxy proxy(std::move(impatient));
  EXPECT_EQ(told(proxy, greeting + connect_to(port.number())), welcome + reply(5));
}

TEST(ProxySocks, incomplete_socks_handshake_ends_at_the_handshake_timeout) {
  Wishes wishes = socks();
  wishes.settings.timers.handshake = milliseconds(50);
  const RunningProxy proxy(std::move(wishes));
  for (const string& part :
       {string(), string("\x05"), greeting, greeting + string("\x05\x01\x00\x03\x09", 5)}) {
    EXPECT_EQ(told(proxy, part), part.size() < greeting.size() ? "" : welcome);
    RawClient client = proxy.client();
    client.send(part);
    client.socket().reset();
  }
  EXPECT_GE(proxy.metric("reprise_limits_hit_total{limit=\"handshake\"}"), 4);
}

TEST(ProxySocks, client_over_the_connection_limit_gets_a_socks_reply) {
  Wishes wishes = socks();
  wishes.settings.limits.connections = 1;
  const RunningProxy proxy(std::move(wishes));
  RawClient first = proxy.client();
  first.send(greeting);
  ASSERT_TRUE(first.socket().read_bytes(2));
  EXPECT_EQ(told(proxy, greeting), "\x05\xff");
}

}  // namespace
}  // namespace reprise::server
