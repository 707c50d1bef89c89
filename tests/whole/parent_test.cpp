// Tests a parent proxy through the whole proxy: what it receives, which connections are shared, and how its
// failures are told apart from the upstream's.
#include "tests/support/black_hole.hpp"
#include "tests/support/names.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::parent_test {
namespace {

using play::BlackHole;

/// Returns settings with a parent proxy on this port. A name lookup makes the test fail.
Wishes through(std::uint16_t port, unsigned attempts = 1) {
  Wishes wishes;
  wishes.settings.parent = config::Parent{"127.0.0.1", port, "joe", "Basic am9lOjVlY3JldA=="};
  wishes.route.retry.max_attempts = attempts;
  wishes.query = [](const net::Resolver::Question& question) {
    ADD_FAILURE() << question.name() << " is the parent's to resolve";
    question.complete({});
  };
  return wishes;
}

std::string connect_to(std::string_view authority, std::string_view fields = {}) {
  std::string head("CONNECT ");
  head.append(authority).append(" HTTP/1.1\r\nHost: ").append(authority).append("\r\n");
  return head.append(fields).append("\r\n");
}

void expect_failure(const WireResponse& got, int status, std::string_view error, std::string_view sentence) {
  EXPECT_EQ(got.status, status);
  const std::string told = got.field("Proxy-Status");
  EXPECT_TRUE(told.substr(0, told.find("; received-status=")).ends_with("; error=" + std::string(error)))
      << got.head;
  EXPECT_NE(got.body.find(sentence), std::string::npos) << got.body;
  EXPECT_EQ(got.body.find("127.0.0"), std::string::npos) << "row H9";
}

const char* const unreachable = "the parent proxy cannot be reached";
const char* const late = "the parent proxy did not respond in time";
const char* const no_tunnel = "the parent proxy refused to open a tunnel";

TEST(ProxyParent, plain_request_is_sent_to_the_parent_in_absolute_form) {
  Heard heard;
  ScriptedUpstream parent([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(200, "by way of the parent"));
    }
  });
  RunningProxy proxy(through(parent.port()));
  const WireResponse got = proxy.client().ask(
      play::with_body("PUT", "up.test:8080", "body", "Proxy-Authorization: Basic theirs\r\nA: 1\r\n"));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "by way of the parent");
  ASSERT_EQ(heard.size(), 1U);
  const std::string sent = heard.at(0);
  EXPECT_TRUE(sent.starts_with("PUT http://up.test:8080/ HTTP/1.1\r\nHost: up.test:8080\r\n")) << sent;
  EXPECT_NE(sent.find("\r\nA: 1\r\n"), std::string::npos);
  EXPECT_NE(sent.find("\r\nProxy-Authorization: Basic am9lOjVlY3JldA==\r\n"), std::string::npos) << sent;
  EXPECT_EQ(sent.find("theirs"), std::string::npos);
  EXPECT_TRUE(sent.ends_with("\r\n\r\nbody"));
}

TEST(ProxyParent, F1_connections_to_the_parent_are_shared_by_all_hosts) {
  ScriptedUpstream parent(play::responses({response(200, "")}));
  RunningProxy proxy(through(parent.port()));
  RawClient client = proxy.client();
  for (const char* host : {"a.test", "b.test:81", "A.test", "c.test"})
    EXPECT_EQ(client.ask(play::get(host)).status, 200) << host;
  EXPECT_EQ(parent.connections(), 1U);
}

TEST(ProxyParent, each_upstream_behind_a_parent_has_its_own_circuit) {
  ScriptedUpstream parent([](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request())
      peer.send(got.starts_with("GET http://bad.test/") ? response(503, "bad") : response(200, "good"));
  });
  Wishes wishes = through(parent.port());
  wishes.route.circuit = policy::CircuitPolicy{0.5, std::chrono::hours(1), 2, std::chrono::hours(1)};
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get("bad.test")).body, "bad");
  EXPECT_EQ(client.ask(play::get("bad.test")).body, "bad");
  EXPECT_EQ(client.ask(play::get("bad.test")).field("Reprise-Reason"), "circuit_open");
  EXPECT_EQ(client.ask(play::get("good.test")).body, "good");
}

TEST(ProxyParent, request_is_retried_through_the_parent) {
  Heard heard;
  ScriptedUpstream parent([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      if (heard.size() == 1) return peer.socket.reset();
      peer.send(heard.size() == 2 ? response(503, "busy") : response(200, "done"));
    }
  });
  RunningProxy proxy(through(parent.port(), 4));
  const WireResponse got = proxy.client().ask(play::with_body("PUT", "up.test", "body"));
  EXPECT_EQ(got.body, "done");
  EXPECT_EQ(got.field("Reprise-Attempts"), "3");
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(heard.at(0), heard.at(1));
  EXPECT_EQ(heard.at(1), heard.at(2));
}

TEST(ProxyParent, unreachable_parent_is_distinguished_from_an_unreachable_upstream) {
  const play::RefusingPort down;
  RunningProxy proxy(through(down.number(), 3));
  const WireResponse got = proxy.client().ask(play::with_body("POST", "up.test", "order"));
  expect_failure(got, 502, "destination_unavailable", unreachable);
  EXPECT_EQ(got.field("Reprise-Attempts"), "3") << "counts as connect";
  const WireResponse tunnel = proxy.client().ask(connect_to("up.test:443"));
  expect_failure(tunnel, 502, "destination_unavailable", unreachable);
  EXPECT_EQ(tunnel.field("Reprise-Attempts"), "3");
  EXPECT_TRUE(play::eventually(
      [&] { return proxy.metric("reprise_attempts_total{route=\"default\",outcome=\"connect\"}") == 6; }));
}

TEST(ProxyParent, parent_address_that_does_not_respond_is_reported_as_a_timeout) {
  const play::RefusingPort port;
  const BlackHole hole("127.0.0.2", port.number());
  Wishes wishes = through(port.number());
  wishes.settings.parent->host = "127.0.0.2";
  wishes.route.connect_timeout = milliseconds(100);
  RunningProxy proxy(std::move(wishes));
  expect_failure(proxy.client().ask(play::get("up.test")), 504, "connection_timeout", late);
}

TEST(ProxyParent, lookup_of_the_parent_name_that_hangs_is_reported_as_a_timeout) {
  play::Names names;
  names.hold_back("parent.test");
  Wishes wishes = through(3128);
  wishes.settings.parent->host = "parent.test";
  wishes.route.connect_timeout = milliseconds(100);
  wishes.query = names.query();
  RunningProxy proxy(std::move(wishes));
  expect_failure(proxy.client().ask(play::get("up.test")), 504, "connection_timeout", late);
}

TEST(ProxyParent, unresolvable_parent_name_is_reported_as_unreachable) {
  Wishes wishes = through(3128);
  wishes.settings.parent->host = "parent.test";
  wishes.query = [](const net::Resolver::Question& question) {
    EXPECT_EQ(question.name(), "parent.test");
    question.complete({});
  };
  RunningProxy proxy(std::move(wishes));
  expect_failure(proxy.client().ask(play::get("up.test")), 502, "destination_unavailable", unreachable);
}

TEST(ProxyParent, D12_next_address_of_the_parent_name_is_dialled_if_the_first_refuses) {
  ScriptedUpstream parent(play::responses({response(200, "")}));
  Wishes wishes = through(parent.port());
  wishes.settings.parent->host = "parent.test";
  wishes.query = [](const net::Resolver::Question& question) {
    question.complete({{asio::ip::make_address("127.0.0.2"), asio::ip::make_address("127.0.0.1")}});
  };
  RunningProxy proxy(std::move(wishes));
  EXPECT_EQ(proxy.client().ask(play::get("up.test")).status, 200);
}

TEST(ProxyParent, tunnel_is_opened_with_connect_to_the_parent) {
  Heard heard;
  ScriptedUpstream parent([&](Peer& peer) {
    heard.add(peer.read_head());
    // The bytes that the server sends first arrive together with the response to CONNECT.
    peer.send(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 Connection established\r\nContent-Length: 5\r\n\r\nhello");
    while (peer.socket.read_more()) peer.send(peer.socket.take_all());
  });
  RunningProxy proxy(through(parent.port()));
  RawClient client = proxy.client();
  client.send(
      connect_to("up.test:443", "Via: 1.1 before\r\nUser-Agent: x\r\nProxy-Authorization: Basic theirs\r\n"));
  EXPECT_EQ(client.read_response_without_body().status, 200);
  EXPECT_TRUE(client.socket().read_bytes(5));
  EXPECT_EQ(client.socket().take_all(), "hello");
  client.send("\x16\x03\x01 not http");
  EXPECT_TRUE(client.socket().read_bytes(12));
  EXPECT_EQ(client.socket().take_all(), "\x16\x03\x01 not http");
  const std::string sent = heard.at(0);
  EXPECT_TRUE(
      sent.starts_with("CONNECT up.test:443 HTTP/1.1\r\nHost: up.test:443\r\nVia: 1.1 before\r\nVia: 1.1 "))
      << sent;
  EXPECT_TRUE(sent.ends_with("\r\nProxy-Authorization: Basic am9lOjVlY3JldA==\r\n\r\n")) << sent;
  EXPECT_EQ(sent.find("User-Agent"), std::string::npos);
}

class RefusedTunnel : public ::testing::TestWithParam<const char*> {};
TEST_P(RefusedTunnel, connect_refused_by_the_parent_is_reported_as_such_and_retried_unless_permanent) {
  const std::string_view said = GetParam();
  const bool is_permanent = said.find(" 407 ") == 8 || said.find(" 403 ") == 8 || said.find(" 302 ") == 8;
  ScriptedUpstream parent([&](Peer& peer) {
    peer.read_head();
    if (peer.number < 3) return peer.send(GetParam());
    peer.send("HTTP/1.1 200 OK\r\n\r\n");
    while (peer.socket.read_more()) peer.send(peer.socket.take_all());
  });
  {
    RunningProxy proxy(through(parent.port(), 2));
    const WireResponse got = proxy.client().ask(connect_to("up.test:443"));
    expect_failure(got, 502, "connection_refused", no_tunnel);
    EXPECT_EQ(got.field("Reprise-Attempts"), is_permanent ? "1" : "2");
    EXPECT_EQ(got.field("Proxy-Authenticate"), "");
    EXPECT_EQ(got.body.find("5ecret"), std::string::npos);
  }
  RunningProxy proxy(through(parent.port(), 2));
  RawClient client = proxy.client();
  client.send(connect_to("up.test:443"));
  EXPECT_EQ(client.read_response_without_body().status, is_permanent ? 502 : 200);
}
INSTANTIATE_TEST_SUITE_P(
    ProxyParent, RefusedTunnel,
    ::testing::Values(
        "", "HTTP/1.1 40",
        "HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm=\"5ecret\"\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 403 No\r\nContent-Length: 6\r\n\r\n5ecret",
        "HTTP/1.1 503 Down\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 302 Elsewhere\r\nLocation: http://5ecret/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/2 200\r\n\r\n", "\x15\x03\x01\r\n\r\n"));

TEST(ProxyParent, endless_head_of_the_parents_connect_response_ends_the_attempt_with_502) {
  ScriptedUpstream parent([](Peer& peer) {
    peer.read_head();
    peer.send("HTTP/1.1 200 OK\r\n");
    const std::string line = "X: " + std::string(1000, 'x') + "\r\n";
    while (peer.socket.send(line)) {
    }
  });
  RunningProxy proxy(through(parent.port()));
  expect_failure(proxy.client().ask(connect_to("up.test:443")), 502, "connection_refused", no_tunnel);
}

TEST(ProxyParent, endless_interim_responses_of_the_parent_to_connect_give_502) {
  ScriptedUpstream parent([](Peer& peer) {
    peer.read_head();
    while (peer.socket.send("HTTP/1.1 100 Continue\r\n\r\n")) {
    }
  });
  RunningProxy proxy(through(parent.port()));
  expect_failure(proxy.client().ask(connect_to("up.test:443")), 502, "connection_refused", no_tunnel);
}

TEST(ProxyParent, connect_response_of_the_parent_is_limited_by_connect_timeout) {
  ScriptedUpstream parent([](Peer& peer) {
    peer.read_head();
    peer.socket.read_to_end();
  });
  Wishes wishes = through(parent.port());
  wishes.route.connect_timeout = milliseconds(100);
  RunningProxy proxy(std::move(wishes));
  expect_failure(proxy.client().ask(connect_to("up.test:443")), 504, "connection_timeout", late);
  EXPECT_TRUE(play::eventually([&] { return parent.running() == 0; })) << "let go";
}

TEST(ProxyParent, D14_client_that_leaves_ends_the_connect_to_the_parent) {
  ScriptedUpstream parent([](Peer& peer) {
    peer.read_head();
    peer.socket.read_to_end();
  });
  Wishes wishes = through(parent.port());
  wishes.route.connect_timeout = std::chrono::hours(1);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send(connect_to("up.test:443"));
  EXPECT_TRUE(play::eventually([&] { return parent.running() == 1; }));
  client.socket().reset();
  EXPECT_TRUE(play::eventually([&] { return parent.running() == 0; }));
}

TEST(ProxyParent, J8_parent_407_is_not_forwarded_to_the_client) {
  ScriptedUpstream parent(
      play::responses({response(407, "who are you", "Proxy-Authenticate: Basic realm=\"corporate\"\r\n"),
                       response(200, "")}));
  RunningProxy proxy(through(parent.port()));
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::get("up.test"));
  EXPECT_EQ(got.status, 502);
  EXPECT_NE(got.field("Proxy-Status").find("; error=proxy_configuration_error; received-status=407"),
            std::string::npos);
  EXPECT_NE(got.body.find("the parent proxy asked"), std::string::npos) << got.body;
  EXPECT_EQ(got.head.find("corporate"), std::string::npos);
}

TEST(ProxyParent, L16_connect_denied_by_the_parent_is_not_retried) {
  for (const int status : {401, 403, 407}) {
    ScriptedUpstream parent(play::responses({response(status, ""), response(200, "")}));
    RunningProxy proxy(through(parent.port()));
    const WireResponse got = proxy.client().ask(connect_to("up.test:443"));
    EXPECT_EQ(got.status, 502) << status;
    EXPECT_EQ(got.field("Reprise-Reason"), "not_retryable") << status;
    EXPECT_EQ(got.field("Reprise-Attempts"), "1") << status;
    EXPECT_NE(got.field("Proxy-Status").find("; received-status=" + std::to_string(status)),
              std::string::npos)
        << got.head;
  }
}

TEST(ProxyParent, H1_H2_H4_address_is_checked_even_if_the_parent_would_dial_it) {
  ScriptedUpstream parent(play::responses({response(200, "")}));
  RunningProxy proxy(through(parent.port()));
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get("up.test")).status, 200) << "a connection rests in the pool";
  for (const char* host :
       {"169.254.169.254", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "2852039166", "0xA9FEA9FE",
        "0251.0376.0251.0376", "169.254.43518", "169.254.169.254."}) {
    const WireResponse got = client.ask(play::get(host));
    EXPECT_EQ(got.status, 403) << host;
    EXPECT_EQ(got.field("Reprise-Reason"), "address_denied") << host;
    EXPECT_EQ(got.field("Reprise-Attempts"), "1") << host;
  }
  for (const std::string host : {"127.0.0.1", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]"})
    EXPECT_EQ(client.ask(play::get(host + ":" + std::to_string(proxy.port()))).status, 508) << host;
  EXPECT_EQ(proxy.client().ask(connect_to("169.254.169.254:443")).status, 403);
  EXPECT_EQ(client.ask(play::get("10.1.2.3")).status, 200) << "another address is the parent's to dial";
  EXPECT_EQ(parent.connections(), 1U);
}

TEST(ProxyParent, H3_denied_parent_address_is_not_dialled) {
  ScriptedUpstream parent(play::responses({response(200, "")}));
  Wishes wishes = through(parent.port(), 3);
  wishes.settings.security.deny.networks = {"127.0.0.0/8"};
  RunningProxy proxy(std::move(wishes));
  const WireResponse got = proxy.client().ask(play::get("up.test"));
  EXPECT_EQ(got.status, 403);
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(parent.connections(), 0U);
}

TEST(ProxyParent, gateway_requests_are_sent_through_the_parent_too) {
  Heard heard;
  ScriptedUpstream parent([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(200, ""));
    }
  });
  Wishes wishes = through(parent.port());
  wishes.gateway_to = 8080;
  RunningProxy proxy(std::move(wishes));
  RawClient client(proxy.gateway_port());
  EXPECT_EQ(client.ask("GET /x?y HTTP/1.1\r\nHost: here\r\n\r\n").status, 200);
  EXPECT_EQ(client.ask("OPTIONS * HTTP/1.1\r\nHost: here\r\n\r\n").status, 200);
  EXPECT_TRUE(heard.at(0).starts_with("GET http://127.0.0.1:8080/x?y HTTP/1.1\r\n")) << heard.at(0);
  EXPECT_TRUE(heard.at(1).starts_with("OPTIONS http://127.0.0.1:8080 HTTP/1.1\r\n")) << heard.at(1);
}

// Plain HTTP requests in a tunnel stay in the tunnel: the parent proxy never reads them.
TEST(ProxyParent, G7_plain_http_in_a_tunnel_through_the_parent_stays_in_the_tunnel) {
  Heard heard;
  ScriptedUpstream parent([&](Peer& peer) {
    heard.add(peer.read_head());
    peer.send("HTTP/1.1 200 OK\r\n\r\n");
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(heard.size() == 2 ? response(503, "busy") : response(200, "inside"));
    }
  });
  RunningProxy proxy(through(parent.port(), 2));
  RawClient client = proxy.client();
  client.send(connect_to("up.test:8080") + "GET /a HTTP/1.1\r\nHost: shop.test\r\n\r\n");
  EXPECT_EQ(client.read_response_without_body().status, 200);
  const WireResponse got = client.read_response();
  EXPECT_EQ(got.body, "inside");
  EXPECT_EQ(got.field("Reprise-Attempts"), "2");
  // The second attempt opens its own tunnel, because an attempt never reuses the connection of the previous
  // attempt.
  ASSERT_EQ(heard.size(), 4U);
  EXPECT_TRUE(heard.at(0).starts_with("CONNECT up.test:8080 HTTP/1.1\r\n")) << heard.at(0);
  EXPECT_TRUE(heard.at(2).starts_with("CONNECT up.test:8080 HTTP/1.1\r\n")) << heard.at(2);
  EXPECT_TRUE(heard.at(3).starts_with("GET /a HTTP/1.1\r\nHost: shop.test\r\n")) << heard.at(3);
  EXPECT_EQ(heard.at(3).find("Proxy-Authorization"), std::string::npos);
  EXPECT_EQ(parent.connections(), 2U);
}

TEST(ProxyParent, G7_stream_is_tunnelled_if_upstream_bytes_arrive_with_the_connect_response) {
  Heard heard;
  ScriptedUpstream parent([&](Peer& peer) {
    peer.read_head();
    peer.send("HTTP/1.1 200 OK\r\n\r\n220 ready\r\n");
    peer.socket.read_to_end();
    heard.add(peer.socket.take_all());
  });
  RunningProxy proxy(through(parent.port()));
  RawClient client = proxy.client();
  const std::string words = "GET /a HTTP/1.1\r\nHost: shop.test\r\n\r\n";
  client.send(connect_to("up.test:8080") + words);
  EXPECT_EQ(client.read_response_without_body().status, 200);
  EXPECT_TRUE(client.socket().read_until("220 ready\r\n"));
  client.socket().finish_sending();
  client.socket().read_to_end();
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  EXPECT_EQ(heard.at(0), words);
}

}  // namespace
}  // namespace reprise::server::parent_test
