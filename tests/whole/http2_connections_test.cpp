// Tests connections of HTTP/2 clients through the whole proxy: how they are accepted, limited, drained and
// ended.
#include <future>

#include "proxy/server/process/reloader.hpp"
#include "tests/support/http2_end.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::http2_connections_test {
namespace {

using namespace play;
using Goaways = std::vector<std::pair<std::int32_t, Http2Code>>;

Wishes over_http1() {
  Wishes wishes;
  wishes.route.http2 = policy::UseHttp2::never;
  return wishes;
}

double streams_of_clients(const RunningProxy& proxy) {
  return proxy.metric(R"(reprise_http2_streams{side="client"})");
}

bool has_no_stream(const RunningProxy& proxy) {
  return play::eventually([&] { return streams_of_clients(proxy) == 0; });
}

/// An upstream of HTTP/1 that sends its responses only when the test opens the gate.
class Gated {
 public:
  std::string authority() const { return upstream_.authority(); }
  void open() { is_open_ = true; }
  /// Waits until this many requests have arrived.
  bool has(std::size_t requests) {
    return play::eventually([&] { return heard_.size() >= requests; });
  }
  /// Waits until this many connections have ended.
  bool has_ended(int connections) {
    return play::eventually([&] { return ended_ >= connections; });
  }

 private:
  Heard heard_;
  std::atomic<bool> is_open_{false};
  std::atomic<int> ended_{0};
  ScriptedUpstream upstream_{[this](Peer& peer) {
    for (std::string text; !(text = peer.read_request()).empty();) {
      heard_.add(std::move(text));
      while (!is_open_ && !peer.socket.read_more(milliseconds(1)) && peer.socket.wire() == Wire::open) {
      }
      peer.send(response(200, "whole"));
    }
    ++ended_;
  }};
};

TEST(Http2Connections, M1_settings_are_sent_before_a_request_arrives) {
  RunningProxy proxy(Wishes{});
  Http2Client client(proxy.port());
  EXPECT_TRUE(client.gets_settings());
  EXPECT_EQ(client.settings_of_peer[max_concurrent_streams], 100U);
}

TEST(Http2Connections, M3_preface_is_refused_on_the_admin_listener) {
  RunningProxy proxy(Wishes{});
  RawClient client(proxy.admin_port());
  client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  const std::string& got = client.socket().received();
  EXPECT_TRUE(got.empty() || got.starts_with("HTTP/1.1 4") || got.starts_with("HTTP/1.1 5")) << got;
}

TEST(Http2Connections, M3_preface_is_refused_on_a_listener_without_http_2) {
  Wishes wishes;
  wishes.settings.listeners.front().http2 = false;
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask("PRI * HTTP/2.0\r\n\r\n").status, 505);
}

TEST(Http2Connections, M2_preface_that_stops_closes_the_connection) {
  Wishes wishes;
  wishes.settings.timers.header = milliseconds(50);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send("PRI * HT");
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
}

TEST(Http2Connections, M2_preface_in_pieces_that_turns_wrong_gets_505) {
  RunningProxy proxy(Wishes{});
  RawClient client = proxy.client();
  client.send("PRI * HTTP/2.0\r");
  client.send("\n\r\nXX\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 505);
}

TEST(Http2Connections, M15_requests_of_a_client_that_has_said_goodbye_are_served) {
  Gated upstream;
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  client.acknowledges = false;
  client.opens_windows = false;
  const std::int32_t stream = client.begin_get(upstream.authority());
  client.send(goaway(0, 0));
  client.socket().finish_sending();
  EXPECT_TRUE(upstream.has(1));
  upstream.open();
  const auto& got = client.whole(stream);
  EXPECT_EQ(got.body, "whole");
  EXPECT_TRUE(got.ended);
  client.read_to_end();
  ASSERT_FALSE(client.goaways.empty());
  EXPECT_EQ(client.goaways.back(), std::pair(stream, Http2Code::no_error));
}

TEST(Http2Connections, M61_pings_are_acknowledged_while_a_stream_is_served) {
  Gated upstream;
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const std::int32_t stream = client.begin_get(upstream.authority());
  EXPECT_TRUE(upstream.has(1));
  EXPECT_TRUE(client.turn());
  EXPECT_FALSE(client.message(stream).over());
  upstream.open();
  EXPECT_EQ(client.whole(stream).body, "whole");
}

/// Returns the GOAWAY frames of a connection that is idle for `keep_alive`, after one request if `asks` is
/// true. Returns none if the client has stalled for `keep_alive`.
Goaways goaways_of_idle_client(milliseconds keep_alive, bool asks, bool acknowledges) {
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  Wishes wishes = over_http1();
  wishes.settings.timers.keep_alive = keep_alive;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  client.acknowledges = acknowledges;
  if (asks && client.get(upstream.authority()).body != "whole") return {};
  client.read_to_end();
  const bool is_counted = proxy.metric(R"(reprise_limits_hit_total{limit="keep_alive"})") == 1;
  return is_counted && client.pings == 1 ? client.goaways : Goaways{};
}

TEST(Http2Connections, M62_idle_connection_ends_with_goaway_and_ping) {
  const Goaways expected{{every_stream, Http2Code::no_error}, {1, Http2Code::no_error}};
  EXPECT_TRUE(play::under_some_limit(
      milliseconds(50), [&](auto limit) { return goaways_of_idle_client(limit, true, true) == expected; }));
}

TEST(Http2Connections, M62_connection_without_a_request_ends_although_its_client_acknowledges_nothing) {
  const Goaways expected{{every_stream, Http2Code::no_error}, {0, Http2Code::no_error}};
  EXPECT_TRUE(play::under_some_limit(
      milliseconds(50), [&](auto limit) { return goaways_of_idle_client(limit, false, false) == expected; }));
}

TEST(Http2Connections, M64_drain_serves_the_open_stream_and_then_closes) {
  Gated upstream;
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const std::int32_t slow = client.begin_get(upstream.authority());
  EXPECT_TRUE(upstream.has(1));
  proxy.stop();
  EXPECT_TRUE(client.until([&] { return !client.goaways.empty(); }));
  EXPECT_EQ(client.goaways.front(), std::pair(every_stream, Http2Code::no_error));
  upstream.open();
  EXPECT_EQ(client.whole(slow).body, "whole");
  client.read_to_end();
  EXPECT_EQ(client.goaways.back(), std::pair(slow, Http2Code::no_error));
  proxy.join();
}

TEST(Http2Connections, M64_drain_does_not_wait_for_a_client_that_ignores_the_ping) {
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  EXPECT_EQ(client.get(upstream.authority()).body, "whole");
  client.acknowledges = false;
  proxy.stop();
  client.read_to_end();
  ASSERT_EQ(client.goaways.size(), 2U);
  EXPECT_EQ(client.goaways.back().second, Http2Code::no_error);
  proxy.join();
}

TEST(Http2Connections, M64_streams_that_outlive_the_grace_are_cancelled) {
  Gated upstream;
  Wishes wishes = over_http1();
  wishes.settings.shutdown.grace = milliseconds(50);
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const std::int32_t stream = client.begin_get(upstream.authority());
  EXPECT_TRUE(upstream.has(1));
  proxy.stop();
  const auto& got = client.whole(stream);
  EXPECT_TRUE(got.reset == Http2Code::cancel || got.status() == "503") << got.status();
  client.read_to_end();
  proxy.join();
}

TEST(Http2Connections, M64_response_held_back_by_the_window_does_not_outlive_the_grace) {
  ScriptedUpstream upstream(responses({response(200, std::string(3'000, 'a'))}));
  Wishes wishes = over_http1();
  wishes.settings.shutdown.grace = milliseconds(50);
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port(), {{initial_window_size, 100}});
  client.opens_windows = false;
  const std::int32_t stream = client.begin_get(upstream.authority());
  EXPECT_TRUE(client.until([&] { return client.message(stream).body.size() == 100; }));
  proxy.stop();
  client.read_to_end();
  EXPECT_FALSE(client.message(stream).ended);
  EXPECT_EQ(client.message(stream).body.size(), 100U);
  proxy.join();
}

TEST(Http2Connections, M65_reset_stream_ends_its_attempt_and_no_other) {
  Gated upstream;
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const std::int32_t first = client.begin_get(upstream.authority());
  const std::int32_t second = client.begin_get(upstream.authority());
  EXPECT_TRUE(upstream.has(2));
  client.send(rst_stream(first, number_of(Http2Code::cancel)));
  EXPECT_TRUE(upstream.has_ended(1));
  EXPECT_TRUE(play::eventually([&] { return streams_of_clients(proxy) == 1; }));
  upstream.open();
  EXPECT_EQ(client.whole(second).body, "whole");
}

TEST(Http2Connections, M65_reset_connection_ends_all_its_streams) {
  Gated upstream;
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  for (int i = 0; i < 3; ++i) client.begin_get(upstream.authority());
  EXPECT_TRUE(upstream.has(3));
  client.socket().reset();
  EXPECT_TRUE(upstream.has_ended(3));
  EXPECT_TRUE(has_no_stream(proxy));
}

TEST(Http2Connections, M65_reset_after_the_fin_ends_the_streams) {
  Gated upstream;
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  EXPECT_TRUE(client.gets_settings());
  client.begin_get(upstream.authority());
  EXPECT_TRUE(upstream.has(1));
  client.socket().finish_sending();
  client.socket().reset();
  EXPECT_TRUE(upstream.has_ended(1));
  EXPECT_TRUE(has_no_stream(proxy));
}

TEST(Http2Connections, M65_response_that_the_window_cannot_take_ends_after_the_fin) {
  ScriptedUpstream upstream(responses({response(200, std::string(3'000, 'a'))}));
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port(), {{initial_window_size, 100}});
  client.opens_windows = false;
  const std::int32_t stream = client.begin_get(upstream.authority());
  EXPECT_TRUE(client.until([&] { return client.message(stream).body.size() == 100; }));
  client.socket().finish_sending();
  client.read_to_end();
  EXPECT_FALSE(client.message(stream).ended);
  EXPECT_EQ(client.message(stream).body.size(), 100U);
  EXPECT_TRUE(has_no_stream(proxy));
}

TEST(Http2Connections, M92_flood_of_resets_ends_the_connection) {
  Gated upstream;
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  EXPECT_TRUE(client.gets_settings());
  std::string frames;
  const FieldList fields = request_fields("GET", upstream.authority());
  for (std::int32_t stream = 1; stream < 6'000; stream += 2)
    frames += headers(stream, fields, end_stream) + rst_stream(stream, number_of(Http2Code::cancel));
  std::thread sender([&] { client.send(frames); });
  client.read_to_end();
  sender.join();
  ASSERT_FALSE(client.goaways.empty());
  EXPECT_EQ(client.goaways.back().second, Http2Code::enhance_your_calm);
  EXPECT_TRUE(play::eventually(
      [&] { return proxy.metrics().find("reprise_http2_floods_total{") != std::string::npos; }));
}

TEST(Http2Connections, M99_stream_above_the_limit_is_refused_and_others_go_on) {
  Gated upstream;
  Wishes wishes = over_http1();
  wishes.settings.limits.streams = 2;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const std::int32_t first = client.begin_get(upstream.authority());
  const std::int32_t second = client.begin_get(upstream.authority());
  EXPECT_TRUE(upstream.has(2));
  const std::int32_t third = client.begin_get(upstream.authority());
  EXPECT_EQ(client.whole(third).reset, Http2Code::refused_stream);
  upstream.open();
  EXPECT_EQ(client.whole(first).body, "whole");
  EXPECT_EQ(client.whole(second).body, "whole");
  EXPECT_EQ(client.settings_of_peer[max_concurrent_streams], 2U);
}

TEST(Http2Connections, M100_head_that_never_ends_closes_the_connection) {
  Gated upstream;
  Wishes wishes = over_http1();
  wishes.settings.timers.header = milliseconds(50);
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  client.acknowledges = false;
  client.begin_get(upstream.authority());
  EXPECT_TRUE(upstream.has(1));
  client.send(frame(FrameType::headers, 0, 3, "\x82"));
  client.read_to_end();
  EXPECT_TRUE(upstream.has_ended(1));
  EXPECT_TRUE(has_no_stream(proxy));
  EXPECT_EQ(proxy.metric(R"(reprise_limits_hit_total{limit="header"})"), 1);
}

TEST(Http2Connections, M100_idle_connection_with_half_a_head_is_closed) {
  Wishes wishes;
  wishes.settings.timers.header = milliseconds(50);
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  client.acknowledges = false;
  EXPECT_TRUE(client.gets_settings());
  client.send(frame(FrameType::headers, 0, 1, "\x82"));
  client.read_to_end();
  EXPECT_EQ(proxy.metric(R"(reprise_limits_hit_total{limit="header"})"), 1);
}

TEST(Http2Connections, M101_idle_connection_makes_room_for_a_new_one) {
  ScriptedUpstream upstream(responses({response(200, "whole")}));
  Wishes wishes = over_http1();
  wishes.settings.limits.connections = 2;
  RunningProxy proxy(std::move(wishes));
  Http2Client oldest(proxy.port());
  EXPECT_EQ(oldest.get(upstream.authority()).body, "whole");
  Http2Client later(proxy.port());
  EXPECT_EQ(later.get(upstream.authority()).body, "whole");
  EXPECT_TRUE(oldest.turn());
  EXPECT_TRUE(
      play::eventually([&] { return proxy.client().ask(play::get(upstream.authority())).status == 200; }));
  oldest.read_to_end();
  ASSERT_FALSE(oldest.goaways.empty());
  EXPECT_EQ(oldest.goaways.back().second, Http2Code::no_error);
  EXPECT_GE(proxy.metric(R"(reprise_limits_hit_total{limit="room"})"), 1);
}

TEST(Http2Connections, M108_codes_that_a_client_sends_are_counted) {
  Gated upstream;
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  const std::int32_t stream = client.begin_get(upstream.authority());
  EXPECT_TRUE(upstream.has(1));
  client.send(rst_stream(stream, number_of(Http2Code::internal_error)) +
              goaway(0, number_of(Http2Code::internal_error)));
  client.read_to_end();
  const auto counted = [&](const std::string& kind) {
    return proxy.metric("reprise_http2_" + kind + R"(_total{side="client",code="internal_error"})");
  };
  EXPECT_TRUE(play::eventually([&] { return counted("goaways") == 1 && counted("resets") == 1; }));
}

TEST(Http2Connections, M64_connection_of_a_removed_listener_is_ended) {
  Wishes wishes = over_http1();
  const config::Settings without_gateway = play::whole(wishes);
  wishes.reload = [&] { return NewConfiguration{without_gateway, "hash2", {}, {}}; };
  wishes.gateway_to = 1;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.gateway_port());
  EXPECT_TRUE(client.gets_settings());
  std::promise<bool> succeeded;
  proxy.reload([&](const ReloadReport& report) { succeeded.set_value(report.succeeded); });
  EXPECT_TRUE(succeeded.get_future().get());
  client.read_to_end();
  EXPECT_EQ(client.goaways, (Goaways{{every_stream, Http2Code::no_error}, {0, Http2Code::no_error}}));
}

TEST(Http2Connections, connection_error_of_the_client_ends_the_connection_with_its_code) {
  Gated upstream;
  RunningProxy proxy(over_http1());
  Http2Client client(proxy.port());
  client.begin_get(upstream.authority());
  EXPECT_TRUE(upstream.has(1));
  client.send(frame(FrameType::ping, 0, 0, "short"));
  client.read_to_end();
  ASSERT_FALSE(client.goaways.empty());
  EXPECT_EQ(client.goaways.back().second, Http2Code::frame_size_error);
  EXPECT_TRUE(upstream.has_ended(1));
}

}  // namespace
}  // namespace reprise::server::http2_connections_test
