// Tests requests of HTTP/2 clients through the whole proxy: how they and their responses are translated, and
// how responses of the proxy and broken responses look.
#include "tests/support/http2_end.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::http2_messages_test {
namespace {

using namespace play;

/// Wishes for upstreams of HTTP/1.
Wishes over_http1() {
  Wishes wishes;
  wishes.route.http2 = policy::UseHttp2::never;
  return wishes;
}

Wishes with_one_attempt() {
  Wishes wishes = over_http1();
  wishes.route.retry.max_attempts = 1;
  return wishes;
}

/// Returns how many requests were rejected, for any cause.
double rejected_requests(const RunningProxy& proxy) {
  double count = 0;
  const std::string page = proxy.metrics();
  constexpr std::string_view series = "\nreprise_rejected_requests_total{";
  for (std::size_t at = page.find(series); at != std::string::npos; at = page.find(series, at + 1))
    count += std::strtod(page.c_str() + page.find("} ", at) + 2, nullptr);
  return count;
}

TEST(Http2Messages, M32_request_is_written_as_http_1) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    heard.add(peer.read_request());
    peer.send(response(200, "whole"));
  });
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const FieldList more{{"x-odd", "A a"}, {"cookie", "a=b"}, {"cookie", "c=d"}, {"te", "trailers"}};
  const auto& got =
      client.whole(client.begin(request_fields("GET", upstream.authority(), "/a?b=%20", more), end_stream));
  EXPECT_EQ(got.status(), "200");
  EXPECT_EQ(got.body, "whole");
  EXPECT_TRUE(got.ended);
  ASSERT_EQ(heard.size(), 1U);
  const std::string request = heard.at(0);
  EXPECT_TRUE(request.starts_with("GET /a?b=%20 HTTP/1.1\r\n")) << request;
  EXPECT_EQ(play::field_of(request, "Host"), upstream.authority());
  EXPECT_EQ(play::field_of(request, "Cookie"), "a=b; c=d");
  EXPECT_EQ(play::field_of(request, "x-odd"), "A a");
  EXPECT_TRUE(play::field_of(request, "Via").starts_with("2.0 ")) << request;
}

TEST(Http2Messages, M35_framing_of_request_bodies_follows_the_length) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string text; !(text = peer.read_request()).empty();) {
      heard.add(std::move(text));
      peer.send(response(200, "x"));
    }
  });
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  EXPECT_EQ(client.post(upstream.authority(), "abc", {{"content-length", "3"}}).status(), "200");
  EXPECT_EQ(client.post(upstream.authority(), "abc").status(), "200");
  EXPECT_EQ(client.whole(client.begin(request_fields("POST", upstream.authority()), end_stream)).status(),
            "200");
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(play::field_of(heard.at(0), "content-length"), "3");
  EXPECT_EQ(play::message_in(heard.at(0)).body, "abc");
  EXPECT_TRUE(play::message_in(heard.at(1)).chunked);
  EXPECT_EQ(play::message_in(heard.at(1)).body, "abc");
  EXPECT_EQ(play::field_of(heard.at(2), "content-length"), "0");
}

TEST(Http2Messages, M36_trailers_are_carried_both_ways_over_http_2) {
  Heard heard;
  ScriptedUpstream upstream(for_each_request([&](Http2Upstream& end, std::int32_t stream) {
    heard.add(end.message(stream).body + end.message(stream).trailer("x-check"));
    end.send(headers(stream, {{":status", "200"}}) + data(stream, "whole") +
             headers(stream, {{"x-sum", "7"}}, end_stream));
  }));
  RunningProxy proxy(Wishes{});
  Http2Client client(proxy.port());
  const std::int32_t stream = client.begin(request_fields("POST", upstream.authority()));
  client.send(data(stream, "abc") + headers(stream, {{"x-check", "9"}}, end_stream));
  const auto& got = client.whole(stream);
  EXPECT_EQ(got.body, "whole");
  EXPECT_EQ(got.trailer("x-sum"), "7");
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard.at(0), "abc9");
}

TEST(Http2Messages, M36_trailers_are_carried_both_ways_over_chunked_http_1) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    heard.add(peer.read_request());
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\nX-Sum: 7\r\n\r\n");
  });
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const std::int32_t stream = client.begin(request_fields("POST", upstream.authority()));
  client.send(data(stream, "abc") + headers(stream, {{"x-check", "9"}}, end_stream));
  const auto& got = client.whole(stream);
  EXPECT_EQ(got.body, "whole");
  EXPECT_EQ(got.trailer("x-sum"), "7");
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(play::field_of("\r\n" + play::message_in(heard.at(0)).trailers, "x-check"), "9");
}

TEST(Http2Messages, M37_interim_responses_are_passed_in_order) {
  ScriptedUpstream over_2(for_each_request([](Http2Upstream& end, std::int32_t stream) {
    end.send(headers(stream, {{":status", "103"}, {"link", "</a>"}}) +
             headers(stream, {{":status", "103"}, {"link", "</b>"}}));
    end.respond(stream, 200, "whole");
  }));
  ScriptedUpstream over_1([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </b>\r\n\r\n" +
              response(200, "whole"));
  });
  for (ScriptedUpstream* const upstream : {&over_2, &over_1}) {
    RunningProxy proxy(upstream == &over_1 ? over_http1() : Wishes{});
    Http2Client client(proxy.port());
    const auto& got = client.get(upstream->authority());
    ASSERT_EQ(got.interim.size(), 2U);
    EXPECT_EQ(Http2Message::value_of(got.interim[0], "link"), "</a>");
    EXPECT_EQ(Http2Message::value_of(got.interim[1], "link"), "</b>");
    EXPECT_EQ(got.body, "whole");
  }
}

TEST(Http2Messages, M38_responses_without_a_body_end_with_their_head) {
  for (const auto& [method, status] :
       std::vector<std::pair<std::string, int>>{{"HEAD", 200}, {"GET", 204}, {"GET", 304}}) {
    ScriptedUpstream upstream(for_each_request(
        [status = status](Http2Upstream& end, std::int32_t stream) { end.respond(stream, status); }));
    RunningProxy proxy(Wishes{});
    Http2Client client(proxy.port());
    const auto& got = client.whole(client.begin(request_fields(method, upstream.authority()), end_stream));
    EXPECT_EQ(got.status(), std::to_string(status));
    EXPECT_TRUE(got.ended && got.body.empty()) << method << status;
  }
}

TEST(Http2Messages, M39_response_bodies_of_every_framing_end_the_stream) {
  for (const std::string head : {"Content-Length: 5\r\n\r\nwhole", "\r\nwhole",
                                 "Transfer-Encoding: chunked\r\n\r\n3\r\nwho\r\n2\r\nle\r\n0\r\n\r\n"}) {
    ScriptedUpstream upstream([&](Peer& peer) {
      peer.read_request();
      peer.send("HTTP/1.1 200 OK\r\n" + head);
    });
    RunningProxy proxy(over_http1());
    Http2Client client(proxy.port());
    const auto& got = client.get(upstream.authority());
    EXPECT_EQ(got.body, "whole") << head;
    EXPECT_TRUE(got.ended) << head;
  }
}

TEST(Http2Messages, M40_broken_response_is_reset_and_the_connection_goes_on) {
  for (const std::string head :
       {"Content-Length: 9\r\n\r\nwho", "Transfer-Encoding: chunked\r\n\r\n3\r\nwho\r\n"}) {
    ScriptedUpstream upstream([&](Peer& peer) {
      peer.read_request();
      peer.send(peer.number == 1 ? "HTTP/1.1 200 OK\r\n" + head : response(200, "whole"));
    });
    RunningProxy proxy(with_one_attempt());
    Http2Client client(proxy.port());
    const auto& got = client.get(upstream.authority());
    EXPECT_EQ(got.body, "who");
    EXPECT_FALSE(got.ended) << head;
    EXPECT_EQ(got.reset, Http2Code::internal_error) << head;
    EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  }
}

TEST(Http2Messages, M41_response_before_the_end_of_the_request_ends_whole) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.read_head();
    peer.send("HTTP/1.1 413 Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    peer.socket.read_to_end();
  });
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const std::int32_t stream = client.begin(request_fields("POST", upstream.authority()));
  client.send(data(stream, "a part"));
  const auto& got = client.whole(stream);
  EXPECT_EQ(got.status(), "413");
  EXPECT_EQ(got.body, "no");
  EXPECT_TRUE(got.ended);
  EXPECT_TRUE(client.until([&] { return got.reset.has_value(); }));
  EXPECT_EQ(got.reset, Http2Code::no_error);
}

TEST(Http2Messages, M42_request_body_of_a_wrong_length_is_reset) {
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  for (const std::string length : {"2", "9"}) {
    const auto& got = client.post(upstream.authority(), "abc", {{"content-length", length}});
    EXPECT_EQ(got.reset, Http2Code::protocol_error) << length;
    EXPECT_EQ(got.status(), "");
  }
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
}

TEST(Http2Messages, M49_malformed_head_resets_only_its_stream_and_is_counted) {
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const FieldList upper_case{{"X-Odd", "a"}};
  const auto& got =
      client.whole(client.begin(request_fields("GET", upstream.authority(), "/x", upper_case), end_stream));
  EXPECT_EQ(got.reset, Http2Code::protocol_error);
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  EXPECT_EQ(upstream.connections(), 1U);
  EXPECT_EQ(rejected_requests(proxy), 1);
}

TEST(Http2Messages, M96_head_above_the_limit_gets_431) {
  Wishes wishes = over_http1();
  wishes.settings.limits.header_bytes = 1024;
  wishes.settings.limits.target_bytes = 1024;
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const FieldList large{{"x-large", std::string(2000, 'a')}};
  const auto& got =
      client.whole(client.begin(request_fields("GET", upstream.authority(), "/x", large), end_stream));
  EXPECT_EQ(got.status(), "431");
  EXPECT_TRUE(got.ended);
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
}

TEST(Http2Messages, M80_call_with_a_head_above_the_limit_gets_a_status_of_grpc) {
  Wishes wishes;
  wishes.settings.limits.header_bytes = 1024;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const FieldList large{{"content-type", "application/grpc"}, {"x-large", std::string(2000, 'a')}};
  const auto& got = client.whole(client.begin(request_fields("POST", "127.0.0.1:1", "/x", large)));
  EXPECT_EQ(got.status(), "200");
  EXPECT_NE(got.field("grpc-status"), "");
  EXPECT_NE(got.field("grpc-status"), "0");
}

TEST(Http2Messages, M12_unknown_protocol_of_an_extended_connect_gets_501) {
  RunningProxy proxy(Wishes{});
  Http2Client client(proxy.port());
  FieldList fields = request_fields("CONNECT", "127.0.0.1:1");
  fields.insert(fields.begin() + 1, {":protocol", "connect-udp"});
  const auto& got = client.whole(client.begin(fields));
  EXPECT_EQ(client.settings_of_peer[enable_connect_protocol], 1U);
  EXPECT_EQ(got.status(), "501");
  EXPECT_TRUE(got.ended);
}

TEST(Http2Messages, H1_H4_requests_to_denied_or_own_addresses_are_rejected) {
  RunningProxy proxy(Wishes{});
  Http2Client client(proxy.port());
  EXPECT_EQ(client.get("169.254.169.254").status(), "403");
  EXPECT_EQ(client.get("127.0.0.1:" + std::to_string(proxy.port())).status(), "508");
}

TEST(Http2Messages, M5_authority_of_another_host_gets_421_on_a_gateway) {
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  Wishes wishes = over_http1();
  wishes.gateway_to = upstream.port();
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.gateway_port());
  const std::string gateway = "127.0.0.1:" + std::to_string(proxy.gateway_port());
  EXPECT_EQ(client.get("other.test").status(), "421");
  EXPECT_EQ(client.get(gateway).body, "whole");
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  const std::int32_t tunnel = client.begin({{":method", "CONNECT"}, {":authority", "other.test:443"}});
  EXPECT_EQ(client.whole(tunnel).status(), "501");
}

TEST(Http2Messages, request_with_max_forwards_0_is_answered_by_the_proxy) {
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const FieldList none{{"max-forwards", "0"}, {"x-own", "traced"}};
  for (const std::string method : {"OPTIONS", "TRACE"}) {
    const auto& got =
        client.whole(client.begin(request_fields(method, upstream.authority(), "/x", none), end_stream));
    EXPECT_TRUE(got.status().starts_with("20")) << got.status();
    EXPECT_TRUE(got.ended);
  }
  EXPECT_EQ(upstream.connections(), 0U);
}

TEST(Http2Messages, M98_response_that_the_window_has_cut_is_cancelled) {
  for (const std::size_t size : {std::size_t{3'000}, std::size_t{300'000}}) {
    ScriptedUpstream upstream([size](Peer& peer) {
      peer.read_request();
      peer.send(response(200, std::string(size, 'a')));
      peer.socket.read_to_end();
    });
    Wishes wishes = over_http1();
    wishes.route.idle_timeout = milliseconds(50);
    RunningProxy proxy(std::move(wishes));
    Http2Client client(proxy.port(), {{initial_window_size, 100}});
    client.opens_windows = false;
    const auto& got = client.get(upstream.authority());
    EXPECT_EQ(got.body.size(), 100U);
    EXPECT_FALSE(got.ended);
    EXPECT_EQ(got.reset, Http2Code::cancel) << size;
  }
}

TEST(Http2Messages, M91_broken_download_is_resumed_on_another_stream) {
  const std::string body(20'000, 'b');
  ScriptedUpstream upstream(for_each_request([&](Http2Upstream& end, std::int32_t stream) {
    const FieldList validator{{"etag", "\"a\""}, {"accept-ranges", "bytes"}};
    if (end.message(stream).field("range").empty()) {
      FieldList fields{{":status", "200"}, {"content-length", "20000"}};
      fields.insert(fields.end(), validator.begin(), validator.end());
      end.send(headers(stream, fields) + data(stream, std::string_view(body).substr(0, 10'000)) +
               rst_stream(stream, number_of(Http2Code::internal_error)));
    } else {
      FieldList fields = validator;
      fields.emplace_back("content-range", "bytes 10000-19999/20000");
      end.respond(stream, 206, std::string_view(body).substr(10'000), fields);
    }
  }));
  RunningProxy proxy(Wishes{});
  Http2Client client(proxy.port());
  const auto& got = client.get(upstream.authority());
  EXPECT_EQ(got.status(), "200");
  EXPECT_TRUE(got.body == body) << got.body.size();
  EXPECT_TRUE(got.ended);
}

}  // namespace
}  // namespace reprise::server::http2_messages_test
