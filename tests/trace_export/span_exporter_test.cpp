// Tests the exporter with correct and faulty collectors over loopback.
#include "proxy/server/trace_export/span_exporter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/json.hpp>

#include "proxy/telemetry/tracing/sampling.hpp"
#include "tests/support/log_file.hpp"
#include "tests/support/metrics.hpp"
#include "tests/support/names.hpp"
#include "tests/support/raw_socket.hpp"
#include "tests/support/scripted_request.hpp"
#include "tests/support/scripted_upstream.hpp"
#include "tests/support/silent_port.hpp"

namespace reprise::server {
namespace {

using play::eventually;
using play::Heard;
using play::Peer;
using play::response;
using play::ScriptedUpstream;
using policy::Reason;
using std::chrono::milliseconds;
using telemetry::ScriptedRequest;

std::uint64_t spans_in(const std::string& request) {
  const std::string body = request.substr(request.find("\r\n\r\n") + 4);
  const auto whole = boost::json::parse(body);
  return whole.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array().size();
}

/// Returns a script that records each request and sends the given responses one after the other. The last
/// response repeats.
ScriptedUpstream::Script collector(Heard& heard, std::vector<std::string> in_turn = {response(200, "{}")}) {
  return [&heard, in_turn](Peer& peer) {
    for (std::string request = peer.read_request(); !request.empty(); request = peer.read_request()) {
      heard.add(request);
      peer.send(in_turn[std::min(heard.size(), in_turn.size()) - 1]);
    }
  };
}

class SpanExporterTest : public testing::Test {
 protected:
  SpanExporterTest() {
    times.batch = milliseconds(1);
    times.backoff = {milliseconds(1), 2, milliseconds(5), policy::Jitter::none};
    // These time limits are longer than a machine stalls. Tests in which a limit must expire set a shorter
    // one.
    times.post = std::chrono::seconds(30);
    times.last = std::chrono::seconds(30);
  }
  ~SpanExporterTest() override {
    if (exporter) exporter->finish(true);
    resolver.reset();
  }
  void start(std::uint16_t port, const std::string& host = "127.0.0.1") {
    exporter = std::make_unique<SpanExporter>(
        queues, *resolver, *metrics, log, telemetry::TraceResource{"1.2", "reprise-test", "here", 1},
        [](std::uint64_t number) { return "id-" + std::to_string(number); }, 7, times);
    exporter->send_to(config::Collector{host, port, "/v1/traces"});
  }
  /// Offers the two spans of one request.
  void request() {
    ScriptedRequest made("plain", "GET", "/x");
    made.attempt(telemetry::status(200), 1, telemetry::stop(Reason::success))
        .ends(telemetry::Ending::complete, 200);
    telemetry::ExchangeRecord record = made.record();
    record.number = 5;
    telemetry::offer_spans(queues.of(0), *metrics, record, true, 1, dice);
  }
  double value(const std::string& series) {
    const std::string text = metrics->text();
    const std::size_t at = text.find("\n" + series + " ");
    return at == std::string::npos ? 0 : std::stod(text.substr(at + series.size() + 2));
  }
  double sent() { return value("reprise_trace_spans_total"); }
  double dropped(const std::string& cause) {
    return value("reprise_trace_dropped_total{cause=\"" + cause + "\"}");
  }

  std::unique_ptr<telemetry::Metrics> metrics = net::make_metrics();
  play::LogFile log_file;
  telemetry::Log log{{config::LogLevel::debug, config::LogFormat::json},
                     {"default"},
                     log_file.descriptor(),
                     telemetry::LogReader::stream};
  play::Names names;
  std::unique_ptr<net::Resolver> resolver =
      std::make_unique<net::Resolver>(names.query(), net::Resolver::Limits{}, *metrics);
  telemetry::SpanQueues queues{2};
  policy::SeededDice dice{3};
  ExportTimes times;
  std::unique_ptr<SpanExporter> exporter;
};

TEST_F(SpanExporterTest, batches_are_posted_over_one_connection) {
  Heard heard;
  ScriptedUpstream upstream(collector(heard));
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return sent() == 2; }));
  request();
  ASSERT_TRUE(eventually([&] { return sent() == 4; }));
  EXPECT_EQ(upstream.connections(), 1U);
  const std::string first = heard.at(0);
  EXPECT_TRUE(first.starts_with("POST /v1/traces HTTP/1.1\r\nHost: " + upstream.authority() + "\r\n"))
      << first;
  EXPECT_NE(first.find("\r\nContent-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(first.find("\r\nVia: 1.1 reprise-test\r\n"), std::string::npos);
  EXPECT_NE(first.find("{\"stringValue\":\"id-5\"}"), std::string::npos);
  EXPECT_NE(first.find("{\"key\":\"reprise.route\",\"value\":{\"stringValue\":\"default\"}}"),
            std::string::npos);
  EXPECT_EQ(spans_in(first), 2U);
}

TEST_F(SpanExporterTest, batch_size_is_limited) {
  times.batch = std::chrono::hours(1);
  Heard heard;
  ScriptedUpstream upstream(collector(heard));
  start(upstream.port());
  for (int i = 0; i < 400; ++i) request();
  exporter->finish();
  EXPECT_EQ(sent(), 800) << "the last flush";
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(spans_in(heard.at(0)), 512U);
  EXPECT_EQ(spans_in(heard.at(1)), 288U);
}

TEST_F(SpanExporterTest, half_full_span_queue_is_sent_before_the_batch_interval_ends) {
  times.batch = std::chrono::hours(1);
  Heard heard;
  ScriptedUpstream upstream(collector(heard));
  start(upstream.port());
  ASSERT_TRUE(eventually([&] {
    for (int i = 0; i < 100; ++i) request();
    return sent() > 0;
  }));
}

TEST_F(SpanExporterTest, unreachable_collector_drops_spans_and_is_logged_once) {
  const play::RefusingPort port;
  start(port.number());
  request();
  ASSERT_TRUE(eventually([&] { return dropped("unreachable") == 2; }));
  request();
  ASSERT_TRUE(eventually([&] { return dropped("unreachable") == 4; }));
  ASSERT_TRUE(eventually(
      [&] { return log_file.says("spans are not delivered: the connection to the collector failed"); }));
  EXPECT_FALSE(log_file.says("not delivered", 2));
}

TEST_F(SpanExporterTest, recovered_collector_is_logged) {
  Heard heard;
  ScriptedUpstream upstream(collector(heard, {response(503, ""), response(503, ""), response(200, "{}")}));
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return sent() == 2; }));
  EXPECT_EQ(heard.size(), 3U);
  EXPECT_EQ(heard.at(0), heard.at(2)) << "the same spans";
  ASSERT_TRUE(eventually([&] { return log_file.says("the collector accepts spans again"); }));
}

TEST_F(SpanExporterTest, batch_rejected_by_the_collector_is_not_sent_again) {
  Heard heard;
  ScriptedUpstream upstream(collector(heard, {response(400, "no such\nfield"), response(413, ""),
                                              response(200, R"({"partialSuccess":{"rejectedSpans":"1"}})")}));
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return dropped("refused") == 2; }));
  request();
  ASSERT_TRUE(eventually([&] { return dropped("refused") == 4; }));
  request();
  ASSERT_TRUE(eventually([&] { return dropped("rejected") == 1; }));
  EXPECT_EQ(sent(), 1);
  EXPECT_EQ(heard.size(), 3U);
  ASSERT_TRUE(eventually([&] { return log_file.says("the collector rejects some spans"); }));
  EXPECT_TRUE(log_file.says("the collector responded with status 400: no such\\u000afield"));
}

TEST_F(SpanExporterTest, busy_collector_is_retried_up_to_the_limit) {
  Heard heard;
  ScriptedUpstream upstream(collector(heard, {response(429, "", "Retry-After: 0\r\n")}));
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return dropped("busy") == 2; }));
  EXPECT_EQ(heard.size(), times.tries);
}

TEST_F(SpanExporterTest, retry_after_of_the_collector_is_respected) {
  Heard heard;
  const std::string busy = response(503, "", "Retry-After: 3600\r\n");
  ScriptedUpstream upstream(collector(heard, {busy}));
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return log_file.says("the collector responded with status 503"); }));
  exporter->finish();
  EXPECT_EQ(heard.size(), 2U) << "one more at the end, and none before";
  EXPECT_EQ(dropped("busy") + dropped("shutting_down"), 2);
}

TEST_F(SpanExporterTest, batch_in_flight_at_shutdown_is_sent_again_only_once) {
  Heard heard;
  std::atomic<bool> ending{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string request = peer.read_request(); !request.empty(); request = peer.read_request()) {
      heard.add(request);
      while (!ending) play::yield_a_moment();
      // By now finish() has usually begun. If it begins later, the exporter still retries the batch exactly
      // once.
      for (int i = 0; i < 20; ++i) play::yield_a_moment();
      peer.send(response(503, "", "Retry-After: 3600\r\n"));
    }
  });
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return heard.size() == 1; }));
  ending = true;
  exporter->finish();
  EXPECT_EQ(heard.size(), 2U);
  EXPECT_EQ(dropped("busy") + dropped("shutting_down"), 2);
}

TEST_F(SpanExporterTest, retry_after_may_be_a_date) {
  Heard heard;
  ScriptedUpstream upstream(
      collector(heard, {response(503, "", "Retry-After: Fri, 01 Jan 2100 00:00:00 GMT\r\n")}));
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return log_file.says("the collector responded with status 503"); }));
  exporter->finish(true);
  EXPECT_EQ(heard.size(), 1U);
  EXPECT_EQ(dropped("shutting_down"), 2);
}

TEST_F(SpanExporterTest, spans_are_dropped_if_the_collector_does_not_respond_in_time) {
  times.post = milliseconds(20);
  times.tries = 2;
  const play::SilentPort port;
  start(port.number());
  request();
  ASSERT_TRUE(eventually([&] { return dropped("unreachable") == 2; }));
  EXPECT_TRUE(eventually([&] { return log_file.says("the collector did not respond in time"); }));
}

TEST_F(SpanExporterTest, collector_that_closes_during_its_response_is_retried) {
  const std::vector<std::string> broken{"", "HTTP/1.1 200 OK\r\nContent-",
                                        "HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nx",
                                        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"};
  std::atomic<std::size_t> connection{0};
  ScriptedUpstream upstream([&](Peer& peer) {
    if (peer.read_request().empty()) return;
    peer.send(broken[std::min<std::size_t>(connection++, broken.size() - 1)]);
  });
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return sent() == 2; })) << "a status is one, although its body broke";
  EXPECT_EQ(connection, broken.size());
}

TEST_F(SpanExporterTest, response_that_is_not_http_is_logged_as_such) {
  times.tries = 1;
  ScriptedUpstream upstream([&](Peer& peer) {
    if (!peer.read_request().empty())
      peer.send(std::string("\x00\x00\x06\x04\x00\x00\x00\x00\x00", 9) + std::string(8192, 'x'));
  });
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return dropped("unreachable") == 2; }));
  EXPECT_TRUE(eventually([&] { return log_file.says("check that this port accepts OTLP over HTTP"); }));
}

TEST_F(SpanExporterTest, oversized_response_is_not_read) {
  Heard heard;
  const std::string huge = "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n" + std::string(200'000, 'x');
  ScriptedUpstream upstream(
      collector(heard, {huge, "HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'h') + "\r\n\r\n"}));
  times.tries = 1;
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return sent() == 2; }));
  request();
  ASSERT_TRUE(eventually([&] { return dropped("unreachable") == 2; }));
}

TEST_F(SpanExporterTest, interim_responses_are_skipped) {
  Heard heard;
  ScriptedUpstream upstream(collector(heard, {"HTTP/1.1 100 Continue\r\n\r\n" + response(200, "{}")}));
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return sent() == 2; }));
  request();
  ASSERT_TRUE(eventually([&] { return sent() == 4; }));
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST_F(SpanExporterTest, batch_is_dropped_when_a_collector_floods_interim_responses) {
  Heard heard;
  std::string flood;
  for (int i = 0; i < 200; ++i) flood += "HTTP/1.1 102 Processing\r\n\r\n";
  ScriptedUpstream upstream(collector(heard, {flood + response(200, "{}")}));
  times.tries = 1;
  start(upstream.port());
  request();
  ASSERT_TRUE(eventually([&] { return dropped("unreachable") == 2; }));
}

TEST_F(SpanExporterTest, stale_connection_to_the_collector_loses_no_spans) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    heard.add(peer.read_request());
    if (!heard.at(heard.size() - 1).empty()) peer.send(response(200, "{}"));
  });
  times.tries = 1;
  start(upstream.port());
  for (int i = 1; i <= 5; ++i) {
    request();
    ASSERT_TRUE(eventually([&] { return sent() == 2 * i; }));
  }
  EXPECT_EQ(dropped("unreachable"), 0);
  EXPECT_FALSE(log_file.says("not delivered"));
}

TEST_F(SpanExporterTest, collector_name_is_resolved_and_retried_after_a_failure) {
  Heard heard;
  ScriptedUpstream upstream(collector(heard));
  names.set("collector.test", {asio::ip::make_address("127.0.0.1")});
  names.fail("collector.test", 2);
  start(upstream.port(), "collector.test");
  request();
  ASSERT_TRUE(eventually([&] { return sent() == 2; }));
  EXPECT_TRUE(eventually([&] { return log_file.says("the host name of the collector does not resolve"); }));
  EXPECT_EQ(names.asked("collector.test"), 3);
}

TEST_F(SpanExporterTest, spans_are_dropped_if_the_lookup_of_the_collector_name_hangs) {
  times.post = milliseconds(20);
  times.tries = 2;
  names.hold_back("collector.test");
  start(1, "collector.test");
  request();
  EXPECT_TRUE(eventually([&] { return dropped("unreachable") == 2; }));
}

TEST_F(SpanExporterTest, new_collector_gets_the_spans_that_the_previous_collector_did_not_accept) {
  const play::SilentPort silent;
  start(silent.number());
  request();
  Heard heard;
  ScriptedUpstream upstream(collector(heard));
  exporter->send_to(config::Collector{"127.0.0.1", upstream.port(), "/other"});
  ASSERT_TRUE(eventually([&] { return sent() == 2; }));
  EXPECT_TRUE(heard.at(0).starts_with("POST /other "));
  exporter->send_to(std::nullopt);
  request();
  ASSERT_TRUE(eventually([&] { return dropped("switched_off") == 2; }));
  exporter->send_to(config::Collector{"127.0.0.1", upstream.port(), "/again"});
  request();
  ASSERT_TRUE(eventually([&] { return sent() == 4; }));
}

TEST_F(SpanExporterTest, shutdown_time_is_bounded) {
  times.last = milliseconds(20);
  const play::SilentPort silent;
  start(silent.number());
  for (int i = 0; i < 600; ++i) request();
  exporter->finish();
  EXPECT_EQ(dropped("shutting_down"), 1200);
  exporter->finish();
  exporter->send_to(config::Collector{"127.0.0.1", 1, "/"});
  EXPECT_EQ(dropped("shutting_down"), 1200);
}

TEST_F(SpanExporterTest, unreachable_collector_at_shutdown_is_tried_once) {
  times.batch = std::chrono::hours(1);
  const play::RefusingPort port;
  start(port.number());
  for (int i = 0; i < 600; ++i) request();
  exporter->finish();
  EXPECT_EQ(dropped("unreachable") + dropped("shutting_down"), 1200);
}

TEST_F(SpanExporterTest, no_thread_runs_without_a_collector) {
  exporter = std::make_unique<SpanExporter>(
      queues, *resolver, *metrics, log, telemetry::TraceResource{},
      [](std::uint64_t) { return std::string(); }, 7, times);
  exporter->send_to(std::nullopt);
  exporter->finish();
  EXPECT_EQ(sent(), 0);
}

TEST_F(SpanExporterTest, full_queue_drops_spans_and_stays_intact) {
  const play::SilentPort silent;
  start(silent.number());
  ASSERT_TRUE(eventually([&] {
    for (int i = 0; i < 100; ++i) request();
    return dropped("queue_full") > 0;
  }));
  Heard heard;
  ScriptedUpstream upstream(collector(heard));
  exporter->send_to(config::Collector{"127.0.0.1", upstream.port(), "/v1/traces"});
  exporter->finish();
  std::uint64_t spans = 0;
  for (std::size_t i = 0; i < heard.size(); ++i) spans += spans_in(heard.at(i));
  EXPECT_EQ(sent(), static_cast<double>(spans));
  EXPECT_GT(spans, 1000U);
}

}  // namespace
}  // namespace reprise::server
