// Tests WebSockets of HTTP/2 clients through the whole proxy: extended CONNECT to upstreams of both versions
// (row M12).
#include "proxy/http/http2/websocket.hpp"
#include "tests/support/http2_end.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::http2_websockets_test {
namespace {

using namespace play;

Wishes over_http1() {
  Wishes wishes;
  wishes.route.http2 = policy::UseHttp2::never;
  wishes.route.idempotent.kind = policy::IdempotencyRule::Kind::always;
  return wishes;
}

std::string switched(std::string_view request) {
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Protocol: chat\r\nSec-WebSocket-Accept: " +
         http::websocket_accept(play::field_of(request, "Sec-WebSocket-Key")) + "\r\n\r\n";
}

/// Opens a WebSocket and sends back what arrives.
void echo(Peer& peer) {
  peer.send(switched(peer.read_head()));
  while (peer.socket.read_more()) peer.send(peer.socket.take_all());
}

/// Returns a script that sends this response to a request for a WebSocket, and then closes.
ScriptedUpstream::Script sends(std::string text) {
  return [text = std::move(text)](Peer& peer) {
    if (peer.read_head().empty()) return;
    peer.send(text);
  };
}

std::int32_t begin_websocket(Http2Client& client, std::string_view authority,
                             std::string_view protocol = "websocket") {
  FieldList fields = request_fields("CONNECT", authority, "/socket",
                                    {{"sec-websocket-version", "13"}, {"sec-websocket-protocol", "chat"}});
  fields.insert(fields.begin() + 1, {":protocol", std::string(protocol)});
  return client.begin(fields);
}

/// Sends two messages and the end, and compares what comes back.
void expect_echo(Http2Client& client, std::int32_t stream) {
  const auto& got = client.head_of(stream);
  EXPECT_EQ(got.status(), "200");
  EXPECT_EQ(got.field("sec-websocket-protocol"), "chat");
  EXPECT_EQ(got.field("sec-websocket-accept"), "");
  client.send(data(stream, "hello "));
  EXPECT_TRUE(client.until([&] { return got.body.size() == 6; }));
  client.send(data(stream, "world", end_stream));
  client.whole(stream);
  EXPECT_EQ(got.body, "hello world");
  EXPECT_TRUE(got.ended);
  EXPECT_EQ(got.reset, std::nullopt);
}

TEST(Http2Websockets, M12_websocket_is_opened_with_an_upgrade_of_http_1) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    const std::string head = peer.read_head();
    heard.add(head);
    peer.send(switched(head));
    while (peer.socket.read_more()) peer.send(peer.socket.take_all());
  });
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  expect_echo(client, begin_websocket(client, upstream.authority()));
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_TRUE(heard.at(0).starts_with("GET /socket HTTP/1.1\r\n")) << heard.at(0);
  EXPECT_EQ(play::field_of(heard.at(0), "Upgrade"), "websocket");
  EXPECT_EQ(play::field_of(heard.at(0), "Sec-WebSocket-Key").size(), 24U);
}

TEST(Http2Websockets, M12_bytes_before_the_response_belong_to_the_websocket) {
  ScriptedUpstream upstream(echo);
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const std::int32_t stream = begin_websocket(client, upstream.authority());
  client.send(data(stream, "early ") + data(stream, "bird", end_stream));
  const auto& got = client.whole(stream);
  EXPECT_EQ(got.status(), "200");
  EXPECT_EQ(got.body, "early bird");
  EXPECT_TRUE(got.ended);
}

TEST(Http2Websockets, M12_wrong_or_missing_accept_and_a_2xx_get_502_without_a_retry) {
  const std::string head =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
  for (const std::string& text :
       {head + "\r\n", head + "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
        response(200, "a page")}) {
    ScriptedUpstream upstream(sends(text));
    RunningProxy proxy(over_http1());
    Http2Client client(proxy.port());
    const auto& got = client.whole(begin_websocket(client, upstream.authority()));
    EXPECT_EQ(got.status(), "502") << text;
    EXPECT_TRUE(got.ended);
    EXPECT_EQ(upstream.connections(), 1U);
  }
}

TEST(Http2Websockets, M12_other_responses_pass_with_their_body) {
  const std::string no = "HTTP/1.1 403 No\r\nX-Reason: none\r\n";
  const std::string body(70'000, 'y');
  const std::vector<std::pair<std::string, std::string>> cases{
      {no + "Content-Length: 2\r\n\r\nno", "no"},
      {no + "Content-Length: 0\r\n\r\n", ""},
      {no + "Transfer-Encoding: chunked\r\n\r\n4\r\nnot \r\n11170\r\n" + body + "\r\n0\r\n\r\n",
       "not " + body},
      {no + "\r\nto the end", "to the end"},
      {"HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\n" + no + "Content-Length: 2\r\n\r\nno", "no"}};
  for (const auto& [text, expected] : cases) {
    ScriptedUpstream upstream(sends(text));
    RunningProxy proxy(over_http1());
    Http2Client client(proxy.port());
    const std::int32_t stream = begin_websocket(client, upstream.authority());
    // The bytes that follow are no request, although they look like one.
    client.send(data(stream, "GET /hidden HTTP/1.1\r\nHost: a.test\r\n\r\n"));
    const auto& got = client.whole(stream);
    EXPECT_EQ(got.status(), "403") << text.substr(0, 80);
    EXPECT_TRUE(got.body == expected) << got.body.size();
    EXPECT_TRUE(got.ended);
    EXPECT_EQ(got.field("x-reason"), "none");
    EXPECT_EQ(got.interim.size(), text.starts_with("HTTP/1.1 103") ? 1U : 0U);
  }
}

TEST(Http2Websockets, M12_incomplete_response_is_cut) {
  for (const std::string head :
       {"Content-Length: 9\r\n\r\npart", "Transfer-Encoding: chunked\r\n\r\n4\r\npart\r\n"}) {
    ScriptedUpstream upstream(sends("HTTP/1.1 403 No\r\n" + head));
    Wishes wishes = over_http1();
    wishes.route.retry.max_attempts = 1;
    RunningProxy proxy(std::move(wishes));
    Http2Client client(proxy.port());
    const auto& got = client.whole(begin_websocket(client, upstream.authority()));
    EXPECT_EQ(got.body, "part");
    EXPECT_FALSE(got.ended);
    EXPECT_EQ(got.reset, Http2Code::internal_error);
  }
}

TEST(Http2Websockets, M12_response_503_is_retried_before_the_101) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (peer.number > 1) return echo(peer);
    peer.read_head();
    peer.send(response(503, "busy"));
  });
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const std::int32_t stream = begin_websocket(client, upstream.authority());
  expect_echo(client, stream);
  EXPECT_EQ(client.message(stream).field("reprise-attempts"), "2");
}

TEST(Http2Websockets, M12_broken_upstream_resets_the_stream_with_connect_error) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.send(switched(peer.read_head()));
    peer.socket.read_more();
    peer.socket.reset();
  });
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const std::int32_t stream = begin_websocket(client, upstream.authority());
  EXPECT_EQ(client.head_of(stream).status(), "200");
  client.send(data(stream, "hello"));
  const auto& got = client.whole(stream);
  EXPECT_FALSE(got.ended);
  EXPECT_EQ(got.reset, Http2Code::connect_error);
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(Http2Websockets, M12_reset_of_the_client_ends_the_upstream_connection) {
  std::atomic<unsigned> ended{0};
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    const std::string head = peer.read_head();
    if (peer.number == 1) peer.send(switched(head));
    heard.add(head);
    peer.socket.read_to_end();
    ++ended;
  });
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  for (unsigned number = 1; number <= 2; ++number) {
    const std::int32_t stream = begin_websocket(client, upstream.authority());
    ASSERT_TRUE(play::eventually([&] { return heard.size() == number; }));
    if (number == 1) {
      EXPECT_EQ(client.head_of(stream).status(), "200");
    }
    client.send(rst_stream(stream, number_of(Http2Code::cancel)));
    EXPECT_TRUE(play::eventually([&] { return ended == number; }));
  }
  EXPECT_TRUE(play::eventually([&] { return proxy.metric(R"(reprise_http2_streams{side="client"})") == 0; }));
}

TEST(Http2Websockets, M12_failed_websocket_gets_a_response) {
  const play::RefusingPort closed;
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const auto& got = client.whole(begin_websocket(client, closed.authority()));
  EXPECT_EQ(got.status(), "502");
  EXPECT_TRUE(got.ended);
}

/// Opens each WebSocket over HTTP/2, and sends its DATA back.
ScriptedUpstream::Script echo_over_http2(Heard& heard) {
  return [&heard](Peer& peer) {
    Http2Upstream end(peer.socket, {{enable_connect_protocol, 1}});
    while (const std::int32_t stream = end.next_head()) {
      auto& got = end.message(stream);
      heard.add(got.field(":method") + " " + got.field(":protocol"));
      if (got.field(":protocol").empty()) {
        end.respond(stream, 200, "whole");
        continue;
      }
      end.send(headers(stream, {{":status", "200"}, {"sec-websocket-protocol", "chat"}}));
      while (!got.over()) {
        if (!end.until([&] { return got.over() || !got.body.empty(); })) return;
        if (!got.reset) end.send(data(stream, std::exchange(got.body, {}), got.ended ? end_stream : 0));
      }
      if (got.reset) heard.add("reset " + std::to_string(number_of(*got.reset)));
    }
  };
}

Wishes permitting(policy::UseHttp2 use) {
  Wishes wishes;
  wishes.route.http2 = use;
  return wishes;
}

TEST(Http2Websockets, M12_websocket_stays_over_http_2_if_the_upstream_permits_it) {
  for (const policy::UseHttp2 use : {policy::UseHttp2::automatic, policy::UseHttp2::always}) {
    Heard heard;
    ScriptedUpstream upstream(echo_over_http2(heard));
    RunningProxy proxy(permitting(use));
    Http2Client client(proxy.port());
    EXPECT_EQ(client.get(upstream.authority()).body, "whole");
    expect_echo(client, begin_websocket(client, upstream.authority()));
    EXPECT_EQ(upstream.connections(), 1U);
    ASSERT_GE(heard.size(), 2U);
    EXPECT_EQ(heard.at(1), "CONNECT websocket");
  }
}

TEST(Http2Websockets, M12_reset_of_the_client_cancels_the_stream_of_the_upstream) {
  Heard heard;
  ScriptedUpstream upstream(echo_over_http2(heard));
  RunningProxy proxy(permitting(policy::UseHttp2::automatic));
  Http2Client client(proxy.port());
  const std::int32_t stream = begin_websocket(client, upstream.authority());
  EXPECT_EQ(client.head_of(stream).status(), "200");
  client.send(rst_stream(stream, number_of(Http2Code::cancel)));
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 2; }));
  EXPECT_EQ(heard.at(1), "reset 8");
}

TEST(Http2Websockets, M12_upstream_that_does_not_permit_it_gets_an_upgrade_on_a_fresh_connection) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (!peer.socket.read_until("\r\n\r\n")) return;
    if (!peer.socket.received().starts_with("PRI ")) return echo(peer);
    Http2Upstream end(peer.socket);
    while (const std::int32_t stream = end.next_request()) end.respond(stream, 200, "whole");
  });
  for (const policy::UseHttp2 use : {policy::UseHttp2::automatic, policy::UseHttp2::always}) {
    RunningProxy proxy(permitting(use));
    Http2Client client(proxy.port());
    EXPECT_EQ(client.get(upstream.authority()).body, "whole");
    for (int i = 0; i < 2; ++i) {
      const std::int32_t stream = begin_websocket(client, upstream.authority());
      expect_echo(client, stream);
      EXPECT_EQ(client.message(stream).field("reprise-attempts"), "1");
    }
  }
  EXPECT_EQ(upstream.connections(), 6U);
}

TEST(Http2Websockets, M12_upstream_that_closes_without_a_byte_gets_the_upgrade_at_the_first_attempt) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (!peer.socket.read_until("\r\n\r\n")) return;
    if (!peer.socket.received().starts_with("PRI ")) echo(peer);
  });
  RunningProxy proxy(permitting(policy::UseHttp2::always));
  Http2Client client(proxy.port());
  const std::int32_t stream = begin_websocket(client, upstream.authority());
  expect_echo(client, stream);
  EXPECT_EQ(client.message(stream).field("reprise-attempts"), "1");
}

}  // namespace
}  // namespace reprise::server::http2_websockets_test
