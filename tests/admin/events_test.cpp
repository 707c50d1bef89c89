// Tests /events and the status page on the admin listener of a running proxy.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::events_test {
namespace {

RawClient visitor(const RunningProxy& proxy) { return RawClient(proxy.admin_port()); }

std::string ask_for(std::string_view path, std::string_view host = "localhost", std::string_view more = {}) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: " + std::string(host) + "\r\n" + std::string(more) +
         "\r\n";
}

Wishes with_stories() {
  Wishes wishes;
  wishes.settings.limits.history_bytes = 1 << 20;
  return wishes;
}

RawClient reader_of(const RunningProxy& proxy) {
  RawClient client = visitor(proxy);
  client.send(ask_for("/events"));
  EXPECT_TRUE(client.socket().read_until("event: stories\n")) << client.socket().received();
  return client;
}

TEST(Events, stream_starts_with_status_and_request_history_then_sends_new_events) {
  ScriptedUpstream upstream(play::responses({response(503, "no"), response(200, "x")}));
  RunningProxy proxy(with_stories());
  RawClient reader = reader_of(proxy);
  EXPECT_TRUE(reader.socket().received().starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(reader.socket().received().find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_TRUE(reader.socket().read_until("event: change\n"));
  EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).body, "x");
  EXPECT_TRUE(reader.socket().read_until("event: story\n"));
  EXPECT_TRUE(reader.socket().read_until("\"recovered\":true"));
  RawClient late = reader_of(proxy);
  EXPECT_TRUE(late.socket().read_until("\"recovered\":true"))
      << "who comes later has it with the first event";
}

TEST(Events, http_1_0_clients_can_read_the_event_stream) {
  RunningProxy proxy;
  RawClient reader = visitor(proxy);
  reader.send("GET /events HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_TRUE(reader.socket().read_until("event: change\n"));
  EXPECT_TRUE(reader.socket().received().starts_with("HTTP/1.0 200 OK\r\n"));
}

TEST(Events, L32_event_readers_are_limited_and_metrics_scrapes_still_work) {
  Wishes wishes;
  wishes.settings.limits.admin_connections = 8;
  RunningProxy proxy(std::move(wishes));
  std::vector<RawClient> readers;
  readers.push_back(reader_of(proxy));
  readers.push_back(reader_of(proxy));
  RawClient client = visitor(proxy);
  const WireResponse refused = client.ask(ask_for("/events"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.field("Retry-After"), "5");
  EXPECT_NE(refused.body.find("read /status and /stories instead"), std::string::npos);
  EXPECT_EQ(client.ask(ask_for("/metrics")).status, 200) << "on the same connection";
  std::vector<RawClient> others;
  for (int i = 0; i < 7; ++i) {
    others.push_back(visitor(proxy));
    EXPECT_EQ(others.back().ask(ask_for("/livez")).status, 200);
  }
  EXPECT_EQ(proxy.metric("reprise_limits_hit_total{limit=\"room\"}"), 1)
      << "the scrape; readers have no place among these";
  readers.clear();
  EXPECT_TRUE(play::eventually([&] {
    RawClient again = visitor(proxy);
    again.send(ask_for("/events"));
    again.socket().read_until("\r\n");
    return again.socket().received().starts_with("HTTP/1.1 200");
  })) << "a place is given back";
}

TEST(Events, event_stream_ends_when_the_proxy_stops) {
  RunningProxy proxy;
  RawClient reader = reader_of(proxy);
  proxy.stop();
  proxy.join();
  EXPECT_EQ(reader.socket().read_to_end(), Wire::fin);
  EXPECT_TRUE(
      reader.socket().received().ends_with("event: end\ndata: {\"reason\":\"this listener is closed\"}\n\n"))
      << reader.socket().received();
}

TEST(Events, H6_foreign_host_and_cross_origin_requests_are_rejected) {
  RunningProxy proxy;
  for (const char* path : {"/", "/events", "/status", "/stories"}) {
    EXPECT_EQ(visitor(proxy).ask(ask_for(path, "evil.example")).status, 403) << path;
    EXPECT_EQ(visitor(proxy).ask(ask_for(path, "localhost", "Origin: http://evil.example\r\n")).status, 403)
        << path;
    EXPECT_EQ(visitor(proxy).ask(ask_for(path, "localhost", "Origin: null\r\n")).status, 403) << path;
  }
  for (const char* path : {"/", "/status"}) {
    EXPECT_EQ(visitor(proxy).ask(ask_for(path, "LOCALHOST:1", "Origin: http://localhost:1\r\n")).status, 200)
        << path;
    EXPECT_EQ(visitor(proxy).ask(ask_for(path, "[::1]:3129")).status, 200) << path;
  }
}

TEST(Events, event_stream_allows_only_get_and_head) {
  RunningProxy proxy;
  RawClient client = visitor(proxy);
  client.send("HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.read_response_without_body().status, 200);
  EXPECT_EQ(client.ask("POST /events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").status, 405);
}

TEST(Page, status_page_is_one_file_with_a_strict_content_security_policy) {
  RunningProxy proxy;
  RawClient client = visitor(proxy);
  const WireResponse page = client.ask(ask_for("/?from=bookmark"));
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.field("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.field("Cache-Control"), "no-store");
  EXPECT_EQ(page.field("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(page.field("Referrer-Policy"), "no-referrer");
  const std::string policy = page.field("Content-Security-Policy");
  EXPECT_TRUE(policy.starts_with("default-src 'none'; style-src 'sha256-")) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_EQ(client.ask(ask_for("/page.js")).status, 404) << "there is no second file";
}

}  // namespace
}  // namespace reprise::server::events_test
