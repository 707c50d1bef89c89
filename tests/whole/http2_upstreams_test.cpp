// Tests requests of HTTP/2 clients to upstreams of HTTP/2 through the whole proxy: which version is used, how
// failures are repeated, and how streams are shared.
#include "tests/support/http2_end.hpp"
#include "tests/support/tls_end.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::http2_upstreams_test {
namespace {

using namespace play;
using policy::UseHttp2;

/// Runs a step for each request over all connections; the last step is used again.
class Steps {
 public:
  using Step = std::function<void(Http2Upstream&, std::int32_t)>;

  explicit Steps(std::vector<Step> steps, SettingsEntries entries = {})
      : steps_(std::move(steps)),
        upstream_(for_each_request(
            [this](Http2Upstream& end, std::int32_t stream) {
              heard_.add(end.message(stream).body);
              steps_[std::min(next_.fetch_add(1), steps_.size() - 1)](end, stream);
            },
            std::move(entries))) {}
  std::string authority() const { return upstream_.authority(); }
  std::size_t requests() const { return heard_.size(); }
  std::string body(std::size_t request) const { return heard_.at(request); }
  unsigned connections() const { return upstream_.connections(); }

 private:
  const std::vector<Step> steps_;
  std::atomic<std::size_t> next_{0};
  Heard heard_;
  ScriptedUpstream upstream_;
};

void respond(Http2Upstream& end, std::int32_t stream) { end.respond(stream, 200, "whole"); }

Steps::Step resets_with(Http2Code code) {
  return [code](Http2Upstream& end, std::int32_t stream) { end.send(rst_stream(stream, number_of(code))); };
}

/// Sends a GOAWAY that excludes the request.
void go_away(Http2Upstream& end, std::int32_t stream) {
  end.send(goaway(stream - 2 < 0 ? 0 : stream - 2, 0));
}

Wishes using_http2(UseHttp2 use = UseHttp2::automatic) {
  Wishes wishes;
  wishes.route.http2 = use;
  return wishes;
}

TEST(Http2Upstreams, M21_clear_text_upstream_is_asked_with_prior_knowledge) {
  Steps upstream({respond});
  RunningProxy proxy(using_http2());
  Http2Client client(proxy.port());
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  EXPECT_EQ(client.post(upstream.authority(), "abc").body, "whole");
  EXPECT_EQ(upstream.body(1), "abc");
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(Http2Upstreams, M22_request_of_an_http_1_client_goes_over_http_1) {
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  RunningProxy proxy(using_http2());
  EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).body, "whole");
}

TEST(Http2Upstreams, M23_request_of_an_http_1_client_goes_over_http_2_if_the_route_demands_it) {
  Steps upstream({respond});
  RunningProxy proxy(using_http2(UseHttp2::always));
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "whole");
  EXPECT_EQ(client.ask(play::with_body("POST", upstream.authority(), "abc")).body, "whole");
  EXPECT_EQ(upstream.body(1), "abc");
}

TEST(Http2Upstreams, M21_upstream_of_http_1_is_asked_over_http_2_only_once) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (!peer.socket.read_until("\r\n\r\n")) return;
    if (peer.socket.received().starts_with("PRI "))
      return static_cast<void>(peer.send(response(400, "what")));
    while (!peer.read_request().empty()) peer.send(response(200, "whole"));
  });
  RunningProxy proxy(using_http2());
  Http2Client client(proxy.port());
  for (int i = 0; i < 2; ++i) {
    const auto& got = client.get(upstream.authority());
    EXPECT_EQ(got.body, "whole");
    EXPECT_EQ(got.field("reprise-attempts"), "1");
  }
  EXPECT_EQ(upstream.connections(), 2U);
}

TEST(Http2Upstreams, M21_second_close_without_a_byte_means_http_1) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (!peer.socket.read_until("\r\n\r\n") || peer.socket.received().starts_with("PRI ")) return;
    while (!peer.read_request().empty()) peer.send(response(200, "whole"));
  });
  RunningProxy proxy(using_http2());
  Http2Client client(proxy.port());
  const auto& got = client.get(upstream.authority());
  EXPECT_EQ(got.body, "whole");
  EXPECT_EQ(got.field("reprise-attempts"), "2");
  EXPECT_EQ(upstream.connections(), 3U);
}

TEST(Http2Upstreams, M23_upstream_without_http_2_fails_if_the_route_demands_it) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.socket.read_more();
    peer.send(response(400, "what"));
  });
  Wishes wishes = using_http2(UseHttp2::always);
  wishes.route.retry.max_attempts = 1;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const auto& got = client.get(upstream.authority());
  EXPECT_EQ(got.status(), "502");
  EXPECT_NE(got.field("proxy-status").find("http_protocol_error"), std::string::npos)
      << got.field("proxy-status");
}

TEST(Http2Upstreams, M25_settings_that_never_arrive_are_a_connect_timeout) {
  ScriptedUpstream upstream([](Peer& peer) { peer.socket.read_to_end(); });
  Wishes wishes = using_http2(UseHttp2::always);
  wishes.route.retry.max_attempts = 1;
  wishes.route.connect_timeout = milliseconds(100);
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  EXPECT_EQ(client.get(upstream.authority()).status(), "504");
}

TEST(Http2Upstreams, M26_request_waits_for_a_stream_if_the_upstream_permits_only_one) {
  std::atomic<bool> is_open{false};
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    Http2Upstream end(peer.socket, {{max_concurrent_streams, 1}});
    while (const std::int32_t stream = end.next_request()) {
      heard.add("request");
      play::eventually([&] { return is_open.load(); });
      end.respond(stream, 200, "whole");
    }
  });
  Wishes wishes = using_http2();
  wishes.settings.pool.http2_connections = 1;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const std::int32_t first = client.begin_get(upstream.authority());
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  const std::int32_t second = client.begin_get(upstream.authority());
  const std::int32_t third = client.begin_get(upstream.authority());
  EXPECT_TRUE(client.turn());
  client.send(rst_stream(third, number_of(Http2Code::cancel)));
  EXPECT_TRUE(client.turn());
  is_open = true;
  EXPECT_EQ(client.whole(first).body, "whole");
  EXPECT_EQ(client.whole(second).body, "whole");
  EXPECT_EQ(upstream.connections(), 1U);
  EXPECT_GE(proxy.metric("reprise_http2_queued_seconds_count"), 1);
}

TEST(Http2Upstreams, M53_wait_for_a_stream_ends_at_the_deadline) {
  ScriptedUpstream upstream([](Peer& peer) {
    Http2Upstream end(peer.socket, {{max_concurrent_streams, 1}});
    end.read_to_end();
  });
  Wishes wishes = using_http2();
  wishes.settings.pool.http2_connections = 1;
  wishes.route.retry.attempt_timeout = milliseconds(200);
  wishes.route.retry.max_attempts = 1;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const std::int32_t first = client.begin_get(upstream.authority());
  const std::int32_t second = client.begin_get(upstream.authority());
  EXPECT_EQ(client.whole(first).status(), "504");
  EXPECT_EQ(client.whole(second).status(), "504");
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(Http2Upstreams, M53_connection_of_a_client_that_has_left_is_used_by_another_client) {
  Steps upstream({respond});
  RunningProxy proxy(using_http2());
  {
    Http2Client client(proxy.port());
    EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  }
  EXPECT_TRUE(
      play::eventually([&] { return proxy.metric(R"(reprise_http2_connections{side="client"})") == 0; }));
  Http2Client client(proxy.port());
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(Http2Upstreams, M54_retry_after_a_status_uses_another_connection) {
  Steps upstream({[](auto& end, auto stream) { end.respond(stream, 503, "busy"); }, respond});
  RunningProxy proxy(using_http2());
  Http2Client client(proxy.port());
  const auto& got = client.get(upstream.authority());
  EXPECT_EQ(got.body, "whole");
  EXPECT_EQ(got.field("reprise-attempts"), "2");
  EXPECT_EQ(upstream.connections(), 2U);
}

TEST(Http2Upstreams, M68_M69_unprocessed_post_is_sent_again_with_its_body) {
  for (const Steps::Step& refuses : {Steps::Step(go_away), resets_with(Http2Code::refused_stream)}) {
    Steps upstream({refuses, respond});
    RunningProxy proxy(using_http2());
    Http2Client client(proxy.port());
    const auto& got = client.post(upstream.authority(), "pay");
    EXPECT_EQ(got.body, "whole");
    ASSERT_EQ(upstream.requests(), 2U);
    EXPECT_EQ(upstream.body(1), "pay");
  }
}

TEST(Http2Upstreams, M69_refused_stream_of_a_doubted_upstream_may_have_been_processed) {
  Steps upstream({resets_with(Http2Code::refused_stream), respond});
  Wishes wishes = using_http2();
  wishes.route.refused_stream = policy::RefusedStream::doubt;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  EXPECT_EQ(client.post(upstream.authority(), "pay").status(), "502");
  EXPECT_EQ(upstream.requests(), 1U);
}

TEST(Http2Upstreams, M70_reset_with_another_code_is_retried_only_if_the_request_is_idempotent) {
  for (const auto& [method, requests] :
       std::vector<std::pair<std::string, std::size_t>>{{"POST", 1}, {"PUT", 2}}) {
    Steps upstream({resets_with(Http2Code::internal_error), respond});
    RunningProxy proxy(using_http2());
    Http2Client client(proxy.port());
    const std::int32_t stream = client.begin(request_fields(method, upstream.authority()));
    client.send(data(stream, "abc", end_stream));
    EXPECT_EQ(client.whole(stream).status(), method == "POST" ? "502" : "200");
    EXPECT_EQ(upstream.requests(), requests) << method;
  }
}

TEST(Http2Upstreams, M70_each_way_to_end_a_stream_has_its_words_in_the_response) {
  const std::vector<std::pair<Steps::Step, std::string>> cases{
      {resets_with(Http2Code::internal_error), "the upstream reset the HTTP/2 stream"},
      {resets_with(Http2Code::refused_stream), "the upstream refused the HTTP/2 stream"},
      {go_away, "the upstream is closing the HTTP/2 connection"},
      {[](auto& end, auto stream) {
         end.send(headers(stream, {{"x", "no status"}}, end_stream));
       },
       "the response is malformed or ambiguous"},
      {[](auto& end, auto stream) {
         end.send(headers(stream, {{":status", "200"}, {"content_length", "5"}}, end_stream));
       },
       "while reading the response head"},
      {[](auto& end, auto) { end.socket().reset(); }, "the connection was reset"}};
  for (const auto& [step, words] : cases) {
    Steps upstream({step});
    Wishes wishes = using_http2(UseHttp2::always);
    wishes.route.retry.max_attempts = 1;
    RunningProxy proxy(std::move(wishes));
    Http2Client client(proxy.port());
    const auto& got = client.get(upstream.authority());
    EXPECT_EQ(got.status(), "502") << words;
    EXPECT_NE(got.body.find(words), std::string::npos) << words << ": " << got.body;
  }
}

TEST(Http2Upstreams, M29_http_1_1_required_sends_the_request_again_over_http_1) {
  for (const bool by_goaway : {false, true}) {
    ScriptedUpstream upstream([by_goaway](Peer& peer) {
      if (!peer.socket.read_until("\r\n\r\n")) return;
      if (!peer.socket.received().starts_with("PRI ")) {
        while (!peer.read_request().empty()) peer.send(response(200, "whole"));
        return;
      }
      const std::uint32_t code = number_of(Http2Code::http_1_1_required);
      Http2Upstream end(peer.socket);
      if (by_goaway) end.send(goaway(0, code));
      while (const std::int32_t stream = end.next_head()) end.send(rst_stream(stream, code));
    });
    RunningProxy proxy(using_http2());
    Http2Client client(proxy.port());
    EXPECT_EQ(client.post(upstream.authority(), "pay").body, "whole");
    EXPECT_EQ(client.get(upstream.authority()).body, "whole");
    EXPECT_EQ(upstream.connections(), 2U);
  }
}

TEST(Http2Upstreams, M56_goaway_before_the_first_request_means_another_connection) {
  ScriptedUpstream upstream([](Peer& peer) {
    Http2Upstream end(peer.socket);
    if (peer.number == 1) end.send(goaway(0, 0));
    while (const std::int32_t stream = end.next_request()) end.respond(stream, 200, "whole");
  });
  RunningProxy proxy(using_http2());
  Http2Client client(proxy.port());
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  EXPECT_EQ(upstream.connections(), 2U);
}

TEST(Http2Upstreams, M40_response_that_breaks_after_its_head_is_cut) {
  Steps upstream({[](auto& end, auto stream) {
    end.send(headers(stream, {{":status", "200"}}) + data(stream, "who") +
             rst_stream(stream, number_of(Http2Code::enhance_your_calm)));
  }});
  Wishes wishes = using_http2();
  wishes.route.retry.max_attempts = 1;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const auto& got = client.get(upstream.authority());
  EXPECT_FALSE(got.ended);
  EXPECT_TRUE(got.reset && *got.reset != Http2Code::no_error);
}

TEST(Http2Upstreams, M65_client_that_resets_its_stream_cancels_the_stream_of_the_upstream) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    Http2Upstream end(peer.socket);
    const std::int32_t stream = end.next_request();
    heard.add("request");
    end.until([&] { return end.message(stream).reset.has_value(); });
    if (end.message(stream).reset) heard.add(std::to_string(number_of(*end.message(stream).reset)));
    while (const std::int32_t later = end.next_request()) end.respond(later, 200, "whole");
  });
  RunningProxy proxy(using_http2());
  Http2Client client(proxy.port());
  const std::int32_t stream = client.begin_get(upstream.authority());
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  client.send(rst_stream(stream, number_of(Http2Code::cancel)));
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 2; }));
  EXPECT_EQ(heard.at(1), "8");
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(Http2Upstreams, M30_authentication_of_a_connection_goes_over_http_1) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (!peer.socket.read_until("\r\n\r\n")) return;
    if (!peer.socket.received().starts_with("PRI ")) {
      while (!peer.read_request().empty()) peer.send(response(200, "whole"));
      return;
    }
    Http2Upstream end(peer.socket);
    while (const std::int32_t stream = end.next_request())
      end.respond(stream, 401, "who", {{"www-authenticate", "NTLM"}});
  });
  RunningProxy proxy(using_http2());
  Http2Client client(proxy.port());
  EXPECT_EQ(client.get(upstream.authority()).status(), "401");
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
}

/// Serves one TLS connection with HTTP/1.
ScriptedUpstream::Script http_1_over_tls(const TlsServer& server) {
  return [&server](Peer& peer) {
    TlsEnd end(server, std::move(peer.socket));
    if (!end.accept()) return;
    for (std::size_t seen = 0; end.read() == TlsEndsWith::bytes;) {
      if (end.received().find("\r\n\r\n", seen) == std::string::npos) continue;
      seen = end.received().size();
      end.send(response(200, "over HTTP/1"));
    }
  };
}

TEST(Http2Upstreams, M20_upstream_over_tls_that_selects_http_1_is_asked_over_http_1) {
  const TlsServer server("http/1.1");
  ScriptedUpstream upstream(http_1_over_tls(server));
  for (const auto& [use, status] : std::vector<std::pair<UseHttp2, std::string>>{{UseHttp2::automatic, "200"},
                                                                                 {UseHttp2::always, "502"}}) {
    Wishes wishes = using_http2(use);
    wishes.route.tls.ca_file = server.certificate_file();
    wishes.route.retry.max_attempts = 1;
    RunningProxy proxy(std::move(wishes));
    Http2Client client(proxy.port());
    FieldList fields = request_fields("GET", upstream.authority());
    fields[1].second = "https";
    EXPECT_EQ(client.whole(client.begin(fields, end_stream)).status(), status);
    EXPECT_EQ(client.whole(client.begin(fields, end_stream)).status(), status);
  }
}

TEST(Http2Upstreams, M31_upstream_over_tls_that_selects_http_2_is_asked_over_http_2) {
  const TlsServer server("h2");
  ScriptedUpstream upstream([&](Peer& peer) {
    TlsEnd end(server, std::move(peer.socket));
    if (!end.accept()) return;
    end.send(settings());
    FrameReader reader;
    std::size_t seen = 0;
    while (end.read() == TlsEndsWith::bytes) {
      reader.feed(std::string_view(end.received()).substr(seen));
      seen = end.received().size();
      for (Frame got; reader.next(got);) {
        if (got.type == FrameType::settings && got.flags == 0)
          end.send(frame(FrameType::settings, ack, 0, ""));
        if (got.type == FrameType::headers)
          end.send(headers(got.stream, {{":status", "200"}}) + data(got.stream, "over HTTP/2", end_stream));
      }
    }
  });
  Wishes wishes = using_http2();
  wishes.route.tls.ca_file = server.certificate_file();
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  FieldList fields = request_fields("GET", upstream.authority());
  fields[1].second = "https";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.whole(client.begin(fields, end_stream)).body, "over HTTP/2");
  EXPECT_EQ(upstream.connections(), 1U);
}

}  // namespace
}  // namespace reprise::server::http2_upstreams_test
