// Tests connections that were authenticated for one client: no other client uses such a connection, and no
// retry of this client uses another connection.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

constexpr std::string_view ntlm = "Authorization: NTLM TlRMTVNTUAAB\r\n";
constexpr std::string_view challenge =
    "WWW-Authenticate: Negotiate\r\nWWW-Authenticate: NTLM TlRMTVNTUAAC\r\n";

/// Responds 401 with a challenge to the first request of a connection and 200 to later ones. Records each
/// request as `number path`.
ScriptedUpstream::Script authenticating(Heard& heard) {
  return [&heard](Peer& peer) {
    bool first = true;
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(std::to_string(peer.number) + " " + got.substr(4, got.find(' ', 4) - 4));
      peer.send(first ? response(401, "who?", challenge) : response(200, "you"));
      first = false;
    }
  };
}

TEST(ProxyPin, F2_authenticated_connection_belongs_to_its_client_alone) {
  Heard heard;
  ScriptedUpstream upstream(authenticating(heard));
  RunningProxy proxy;
  RawClient one = proxy.client();
  EXPECT_EQ(one.ask(play::get(upstream.authority(), "/1")).status, 401);
  RawClient other = proxy.client();
  EXPECT_EQ(other.ask(play::get(upstream.authority(), "/2")).status, 401);
  EXPECT_EQ(one.ask(play::get(upstream.authority(), "/3", ntlm)).status, 200);
  EXPECT_EQ(one.ask(play::get(upstream.authority(), "/4")).status, 200) << "without credentials of its own";
  EXPECT_EQ(other.ask(play::get(upstream.authority(), "/5")).status, 200);
  ASSERT_EQ(heard.size(), 5U);
  for (const auto& [at, message] :
       {std::pair{0U, "1 /1"}, {1U, "2 /2"}, {2U, "1 /3"}, {3U, "1 /4"}, {4U, "2 /5"}})
    EXPECT_EQ(heard.at(at), message);
  EXPECT_EQ(upstream.connections(), 2U);
}

TEST(ProxyPin, F2_authenticated_connection_closes_with_its_client) {
  Heard heard;
  ScriptedUpstream upstream(authenticating(heard));
  RunningProxy proxy;
  {
    RawClient client = proxy.client();
    EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 401);
    EXPECT_EQ(client.ask(play::get(upstream.authority(), "/", ntlm)).status, 200);
  }
  EXPECT_TRUE(play::eventually([&] { return upstream.running() == 0; }));
  EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).status, 401);
  EXPECT_EQ(upstream.connections(), 2U);
}

TEST(ProxyPin, F2_request_on_an_authenticated_connection_is_not_retried_on_another) {
  Heard heard;
  ScriptedUpstream upstream([&heard](Peer& peer) {
    heard.add(peer.read_request());
    peer.send(response(401, "", challenge));
    heard.add(peer.read_request());
    peer.send(response(503, "later"));
    heard.add(peer.read_request());
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 401);
  const WireResponse refused = client.ask(play::get(upstream.authority(), "/", ntlm));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.field("Reprise-Reason"), "not_replayable");
  const WireResponse broken = client.ask(play::get(upstream.authority()));
  EXPECT_EQ(broken.status, 502);
  EXPECT_EQ(broken.field("Reprise-Reason"), "not_replayable");
  EXPECT_EQ(broken.field("Reprise-Attempts"), "1");
  EXPECT_EQ(heard.size(), 3U);
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(ProxyPin, F2_connection_with_basic_authentication_is_shared_by_all_clients) {
  Heard heard;
  ScriptedUpstream upstream([&heard](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(401, "", "WWW-Authenticate: Basic realm=\"NTLM\"\r\n"));
    }
  });
  RunningProxy proxy;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(
        proxy.client().ask(play::get(upstream.authority(), "/", "Authorization: Basic eDp5\r\n")).status,
        401);
    EXPECT_TRUE(
        play::eventually([&] { return proxy.metric("reprise_upstream_connections{state=\"idle\"}") == 1; }));
  }
  EXPECT_EQ(upstream.connections(), 1U);
}

}  // namespace
}  // namespace reprise::server
