// Tests responses through the whole proxy: framing is kept, broken responses are cut, and connections are
// reused only after a clean end.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

// Tests of valid messages: methods, lengths, chunks, trailers.
TEST(ProxyResponses, get_response_arrives_and_connections_are_reused) {
  ScriptedUpstream upstream(play::responses({response(200, "hello", "X-Odd: a  b\r\n")}));
  RunningProxy proxy;
  RawClient client = proxy.client();
  for (int i = 0; i < 5; ++i) {
    const WireResponse got = client.ask(play::get(upstream.authority()));
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.body, "hello");
    EXPECT_EQ(got.field("X-Odd"), "a  b");
    EXPECT_EQ(got.field("Reprise-Attempts"), "1");
    EXPECT_EQ(got.field("Reprise-Reason"), "");
  }
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(ProxyResponses, I1_messages_that_arrive_byte_by_byte_are_forwarded_unchanged) {
  Heard heard;
  const std::string chunks = "4\r\nwiki\r\n5\r\npedia\r\nb\r\n in\r\nchunks\r\n0\r\nX-Sum: 7\r\n\r\n";
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.socket.send_bytewise(
          "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nTransfer-Encoding: chunked\r\n\r\n" +
          chunks);
    }
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  const std::string request = "PUT http://" + upstream.authority() +
                              "/a%2Fb?c={d} HTTP/1.1\r\nHost: " + upstream.authority() +
                              "\r\nX-A: 1\r\nx-a:  2\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.socket().send_bytewise(request));
    const WireResponse got = client.read_response();
    EXPECT_TRUE(got.whole);
    EXPECT_EQ(got.body, "wikipedia in\r\nchunksX-Sum: 7\r\n");
  }
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_TRUE(heard.at(0).starts_with("PUT /a%2Fb?c={d} HTTP/1.1\r\n")) << heard.at(0);
  EXPECT_NE(heard.at(0).find("\r\nX-A: 1\r\nx-a:  2\r\n"), std::string::npos);
  EXPECT_TRUE(heard.at(0).ends_with("0\r\nX-Sum: 7\r\n\r\n")) << heard.at(0);
}

TEST(ProxyResponses, long_bodies_arrive_complete_in_both_directions) {
  std::string body(5'000'000, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>('a' + i * 7 % 23);
  ScriptedUpstream upstream([&](Peer& peer) {
    const std::string request = peer.read_request();
    const bool same = request.size() > body.size() && request.ends_with(body);
    peer.send(response(same ? 200 : 418, body));
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::with_body("POST", upstream.authority(), body));
  EXPECT_EQ(got.status, 200);
  EXPECT_TRUE(got.body == body);
}

class Bodiless : public ::testing::TestWithParam<std::string> {};
TEST_P(Bodiless, B1_bodiless_response_has_no_body_regardless_of_its_fields) {
  ScriptedUpstream upstream([&](Peer& peer) {
    while (!peer.read_request().empty()) peer.send(GetParam());
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  const bool has_length = GetParam().find("Content-Length") != std::string::npos;
  const bool head = GetParam().starts_with("HTTP/1.1 200");
  for (int i = 0; i < 3; ++i) {
    std::string request = play::get(upstream.authority());
    if (head) request.replace(0, 3, "HEAD");
    client.send(request);
    const WireResponse got = client.read_response_without_body();
    EXPECT_EQ(got.status, std::stoi(GetParam().substr(9, 3)));
    EXPECT_EQ(client.socket().received(), "");
    EXPECT_FALSE(got.status == 204 && got.has("Content-Length")) << got.head;
    EXPECT_EQ(got.field("Content-Length"), got.status == 204 || !has_length ? "" : "50");
  }
  // A 204 with Content-Length is a framing fault, so the connection is not reused.
  const bool fault = GetParam().starts_with("HTTP/1.1 204") && has_length;
  EXPECT_EQ(upstream.connections(), fault ? 3U : 1U);
}
INSTANTIATE_TEST_SUITE_P(ProxyResponses, Bodiless,
                         ::testing::Values("HTTP/1.1 204 No\r\n\r\n",
                                           "HTTP/1.1 204 No\r\nContent-Length: 50\r\n\r\n",
                                           "HTTP/1.1 304 Same\r\nContent-Length: 50\r\n\r\n",
                                           "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"));

TEST(ProxyResponses, B2_http_1_0_client_gets_an_unchunked_body_ended_by_close) {
  ScriptedUpstream upstream(
      play::responses({"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
                       "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"}));
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send("GET http://" + upstream.authority() + "/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const WireResponse got = client.read_response();
  EXPECT_EQ(got.status, 200);
  EXPECT_FALSE(got.has("Transfer-Encoding"));
  EXPECT_EQ(got.field("Connection"), "close");
  EXPECT_EQ(got.body, "abc");
  EXPECT_TRUE(got.whole);
}

TEST(ProxyResponses, B3_close_delimited_response_is_delivered_chunked) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\n\r\npart one, ");
    peer.send("part two");
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  for (int i = 0; i < 2; ++i) {
    const WireResponse got = client.ask(play::get(upstream.authority()));
    EXPECT_TRUE(got.chunked);
    EXPECT_TRUE(got.whole);
    EXPECT_EQ(got.body, "part one, part two");
  }
  EXPECT_EQ(upstream.connections(), 2U);
}

// Covers broken responses: the client sees a cut, never a clean end.
struct Broken {
  std::string name;
  std::string wire;
};
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

class BrokenResponse : public ::testing::TestWithParam<Broken> {};
TEST_P(BrokenResponse, broken_response_is_cut_and_never_ends_cleanly) {
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    peer.send(GetParam().wire);
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(client.socket().received().find("\r\n0\r\n"), std::string::npos) << client.socket().received();
}
INSTANTIATE_TEST_SUITE_P(
    ProxyResponses, BrokenResponse,
    ::testing::Values(
        Broken{"B13_length_with_close",
               "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\nabc"},
        Broken{"truncated_length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"},
        Broken{"truncated_inside_a_chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabc"},
        Broken{"missing_last_chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"},
        Broken{"B5_half_a_last_chunk",
               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"},
        Broken{"B5_inside_the_trailers",
               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n"},
        Broken{"bad_chunk_size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n"},
        Broken{"bad_chunk_end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcde"}),
    [](const auto& one) { return one.param.name; });

TEST(ProxyResponses, B4_reset_in_a_close_delimited_body_cuts_the_response) {
  std::atomic<bool> go{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\n\r\nabc");
    play::eventually([&] { return go.load(); });
    peer.socket.reset();
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(client.socket().read_until("abc"));
  go = true;
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_FALSE(client.socket().received().ends_with("0\r\n\r\n"));
}

TEST(ProxyResponses, B6_stalled_body_cuts_the_response) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    peer.socket.read_to_end();
  });
  Wishes wishes;
  wishes.route.idle_timeout = std::chrono::milliseconds(150);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_TRUE(client.socket().received().ends_with("3\r\nabc\r\n"));
  EXPECT_TRUE(play::eventually([&] {
    return proxy.metric("reprise_requests_total{route=\"default\",code=\"cut\"}") == 1;
  })) << proxy.metrics();
}

// Covers malformed heads: the client gets a 502 without any part of the head.
class BadHead : public ::testing::TestWithParam<std::string> {};
TEST_P(BadHead, B8_B12_malformed_head_gets_502_and_its_connection_is_closed) {
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    peer.send(GetParam());
  });
  Wishes wishes;
  wishes.route.retry.max_attempts = 2;
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 502);
  // A malformed head counts as intended by the upstream and is not retried. A head that ends early counts as
  // a reset and is retried.
  const bool ends_early = !GetParam().ends_with("\r\n\r\n") && !GetParam().ends_with("a");
  EXPECT_EQ(got.field("Reprise-Attempts"), ends_early ? "2" : "1");
  EXPECT_EQ(got.field("Reprise-Reason"), ends_early ? "attempts_spent" : "not_retryable");
  EXPECT_FALSE(got.has("secret"));
}
INSTANTIATE_TEST_SUITE_P(
    ProxyResponses, BadHead,
    ::testing::Values("HTTP/1.1 2xx OK\r\nX: secret\r\n\r\n", "HTTP/1.1 099 X\r\nX: secret\r\n\r\n",
                      "HTTP/2.0 200 OK\r\nX: secret\r\n\r\n", "<html>secret</html>\r\n\r\n",
                      "HTTP/1.1 200 OK\r\nX: secret\r\n",  // ends without its empty line
                      "HTTP/1.1 200 OK\r\nX: secret\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
                      "HTTP/1.1 200 OK\r\n folded\r\nX: secret\r\n\r\n",
                      "HTTP/1.1 200 OK\r\nX: secret\r\nTransfer-Encoding : chunked\r\n\r\n",
                      "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\nX: secret\r\n\r\n"));

TEST(ProxyResponses, B10_at_most_a_hundred_interim_responses_are_forwarded) {
  for (const int count : {100, 101}) {
    ScriptedUpstream upstream([&](Peer& peer) {
      peer.read_request();
      for (int i = 0; i < count; ++i) peer.send("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n");
      peer.send(response(200, "end"));
      peer.socket.read_to_end();
    });
    Wishes wishes;
    wishes.route.retry.max_attempts = 1;
    RunningProxy proxy(std::move(wishes));
    RawClient client = proxy.client();
    client.send(play::get(upstream.authority()));
    WireResponse got = client.read_response();
    int passed = 0;
    for (; got.status == 103; ++passed) got = client.read_response();
    EXPECT_EQ(passed, 100);
    EXPECT_EQ(got.status, count == 100 ? 200 : 502);
  }
}

TEST(ProxyResponses, B10_interim_heads_above_64_kib_in_total_give_502) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.read_request();
    for (int i = 0; i < 10; ++i)
      peer.send("HTTP/1.1 103 Early Hints\r\nLink: " + std::string(10'000, 'x') + "\r\n\r\n");
    peer.send(response(200, "end"));
    peer.socket.read_to_end();
  });
  Wishes wishes;
  wishes.route.retry.max_attempts = 1;
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  WireResponse got = client.read_response();
  while (got.status == 103) got = client.read_response();
  EXPECT_EQ(got.status, 502);
}

// Tests of connection reuse.
class Surplus : public ::testing::TestWithParam<std::string> {};
TEST_P(Surplus, B11_bytes_after_a_response_close_its_connection_and_reach_no_client) {
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    peer.send(GetParam() + (peer.number == 1 ? response(200, "poison") : ""));
    peer.socket.read_to_end();
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  for (int i = 0; i < 2; ++i) {
    const WireResponse got = client.ask(play::get(upstream.authority()));
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.body, "right");
  }
  EXPECT_EQ(upstream.connections(), 2U);
}
INSTANTIATE_TEST_SUITE_P(ProxyResponses, Surplus,
                         ::testing::Values(response(200, "right"),
                                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                           "5\r\nright\r\n0\r\n\r\n"));

TEST(ProxyResponses, obsolete_syntax_of_a_response_is_normalised_for_the_client) {
  ScriptedUpstream upstream(
      play::responses({"HTTP/1.2 200 OK\nX:\n a\r\n\tb\nTransfer-Encoding: identity, "
                       "Chunked\n\n000005\r\nhello\r\n00\r\nY: 1\n 2\n\n"}));
  RunningProxy proxy;
  RawClient client = proxy.client();
  for (int round = 0; round < 2; ++round) {
    const WireResponse got = client.ask(play::get(upstream.authority()));
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.field("X"), "a b");
    EXPECT_EQ(got.field("Transfer-Encoding"), "chunked");
    EXPECT_EQ(got.body, "helloY: 1 2\r\n") << "the trailer is read with the body here";
  }
  EXPECT_EQ(upstream.connections(), 1U) << "an old spelling is no reason to part";
}

TEST(ProxyResponses, F3_connection_is_not_pooled_after_http_1_0_or_connection_close_or_conflicting_framing) {
  for (const std::string& wire : {std::string(response(200, "x", "Connection: close\r\n")),
                                  std::string("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx"),
                                  std::string("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: "
                                              "chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"),
                                  std::string(response(200, "x", "Keep-Alive: timeout=1\r\n"))}) {
    ScriptedUpstream upstream(play::responses({wire}));
    RunningProxy proxy;
    RawClient client = proxy.client();
    for (unsigned i = 1; i <= 2; ++i) {
      EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "x");
      EXPECT_EQ(upstream.connections(), i) << wire;
    }
  }
}

TEST(ProxyResponses, J8_upstream_407_becomes_502) {
  ScriptedUpstream upstream(
      play::responses({response(407, "give me your password", "Proxy-Authenticate: Basic\r\n")}));
  RunningProxy proxy;
  const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 502);
  EXPECT_NE(got.field("Proxy-Status").find("received-status=407"), std::string::npos);
  EXPECT_FALSE(got.has("Proxy-Authenticate"));
}

TEST(ProxyResponses, B1_interim_response_with_body_fields_ends_the_connection) {
  for (const char* fields : {"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", ""}) {
    const std::string interim = "HTTP/1.1 103 Early Hints\r\n" + std::string(fields) + "\r\n";
    ScriptedUpstream upstream(play::responses({interim + response(200, "x")}));
    RunningProxy proxy;
    RawClient client = proxy.client();
    for (int i = 0; i < 2; ++i) {
      client.send(play::get(upstream.authority()));
      const WireResponse first = client.read_response();
      EXPECT_EQ(first.status, 103);
      EXPECT_EQ(first.field("Content-Length") + first.field("Transfer-Encoding"), "");
      EXPECT_EQ(client.read_response().body, "x");
    }
    EXPECT_EQ(upstream.connections(), *fields == '\0' ? 1U : 2U) << fields;
  }
}

TEST(ProxyResponses, H7_redirect_to_a_denied_address_is_passed_to_the_client) {
  const std::string fields = "Location: http://169.254.169.254/latest/\r\n";
  ScriptedUpstream upstream(play::responses({response(302, "there", fields)}));
  RunningProxy proxy;
  const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 302);
  EXPECT_EQ(got.field("Location"), "http://169.254.169.254/latest/");
  EXPECT_EQ(got.body, "there");
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(proxy.metric("reprise_retries_refused_total{route=\"default\",reason=\"address_denied\"}"), -1);
}

TEST(ProxyResponses, gateway_request_reaches_its_upstream_with_the_host_field_of_that_upstream) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(200, "via gateway", "Alt-Svc: h3=\":443\"\r\n"));
    }
  });
  Wishes wishes;
  wishes.gateway_to = upstream.port();
  RunningProxy proxy(std::move(wishes));
  RawClient client(proxy.gateway_port());
  const WireResponse got = client.ask("GET /x?y HTTP/1.1\r\nHost: app.example\r\n\r\n");
  EXPECT_EQ(got.body, "via gateway");
  EXPECT_FALSE(got.has("Alt-Svc"));  // row J10
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_TRUE(heard.at(0).starts_with("GET /x?y HTTP/1.1\r\n"));
  EXPECT_NE(heard.at(0).find("Host: " + upstream.authority() + "\r\n"), std::string::npos) << heard.at(0);
}

TEST(ProxyResponses, J4_request_with_max_forwards_0_is_answered_by_the_proxy_and_the_connection_stays_open) {
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  RunningProxy proxy;
  RawClient client = proxy.client();
  const std::string request = " http://" + upstream.authority() +
                              "/ HTTP/1.1\r\nHost: " + upstream.authority() + "\r\nMax-Forwards: 0\r\n";
  EXPECT_EQ(client.ask("OPTIONS" + request + "\r\n").status, 200);
  const WireResponse traced = client.ask("TRACE" + request + "Connection: close\r\n\r\n");
  EXPECT_EQ(traced.status, 200);
  EXPECT_TRUE(traced.body.starts_with("TRACE ")) << traced.body;
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(upstream.connections(), 0U);
}

}  // namespace
}  // namespace reprise::server
