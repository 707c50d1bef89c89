#include "proxy/telemetry/metrics/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/metrics/metric_cells.hpp"
#include "proxy/telemetry/metrics/metric_table.hpp"
#include "proxy/telemetry/metrics/open_metrics.hpp"
#include "proxy/telemetry/metrics/process_stats.hpp"
#include "tests/metrics/golden.hpp"
#include "tests/support/scripted_request.hpp"

namespace reprise::telemetry::metrics_test {
namespace {

using policy::Reason;

const std::vector<std::string> route_names{"api", "orders"};
const std::vector<std::string_view> rejections{"bad_request_line", "bad_method", "loop"};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t count_starting(const std::string& text, const std::string& start) {
  const auto lines = lines_of(text);
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const std::string& line) { return line.rfind(start, 0) == 0; }));
}

// Returns the value of the series `name{labels}`, or "" if the series does not exist.
std::string value_of(const std::string& text, const std::string& series) {
  for (const std::string& line : lines_of(text)) {
    if (line.rfind(series + " ", 0) == 0) return line.substr(series.size() + 1);
  }
  return "";
}

std::string without_process(const std::string& text) {
  std::string out;
  for (const std::string& line : lines_of(text)) {
    if (line.find("process_") == std::string::npos) out += line + "\n";
  }
  return out;
}

class MetricsTest : public testing::Test {
 protected:
  std::string value(const std::string& series) { return value_of(metrics_.text(), series); }
  Metrics metrics_{route_names, rejections, "1.2.3"};
};

TEST_F(MetricsTest, metrics_text_matches_the_golden_file) {
  for (const ScriptedRequest& story : all_stories()) metrics_.count(story.record());
  metrics_.count_rejection(0);
  metrics_.count_rejection(2);
  metrics_.count_rejection(2);
  metrics_.count_tunnel(TunnelOutcome::closed);
  metrics_.count_lookup(LookupOutcome::hit);
  metrics_.count_lookup(LookupOutcome::failed);
  metrics_.set_log_dropped(5);
  metrics_.count_spans(12);
  metrics_.count_dropped_spans(SpanDrop::queue_full, 3);
  metrics_.count_dropped_spans(SpanDrop::refused, 2);
  metrics_.set_config_hash("deadbeef", 1'700'000'000);
  metrics_.client_connected();
  metrics_.client_connected();
  metrics_.client_disconnected();
  metrics_.upstream_changed(UpstreamState::active, 2);
  metrics_.upstream_changed(UpstreamState::idle, 1);
  metrics_.http2_connections_changed(Http2Side::upstream, 2);
  metrics_.http2_streams_changed(Http2Side::upstream, 5);
  metrics_.http2_streams_changed(Http2Side::upstream, -1);
  metrics_.count_http2_goaways(Http2Side::upstream, policy::Http2Code::no_error);
  metrics_.count_http2_resets(Http2Side::upstream, policy::Http2Code::refused_stream, 3);
  metrics_.count_http2_resets(Http2Side::upstream, policy::Http2Code::other);
  metrics_.count_http2_flood(policy::Http2Flood::empty_frames);
  metrics_.count_http2_wait(milliseconds(30));
  metrics_.replay_bytes_changed(ReplayMedium::memory, 4096);
  metrics_.replay_bytes_changed(ReplayMedium::memory, -96);
  metrics_.replay_bytes_changed(ReplayMedium::disk, 1'000'000);
  metrics_.set_replay_limit(ReplayMedium::memory, 67'108'864);
  metrics_.set_replay_limit(ReplayMedium::disk, 1'073'741'824);
  metrics_.set_certificate_left(CertificateUse::authority, 86'400);
  metrics_.set_certificate_left(CertificateUse::client, std::nullopt);
  ScriptedRequest again = all_stories().front();
  telemetry::ExchangeRecord record = again.record();
  record.upstream = &metrics_.upstream("api.internal:80");
  metrics_.count(record);
  metrics_.set_budget_ratio("api.internal:80", 0.75);
  metrics_.set_budget_ratio("other", 1);
  expect_golden("metrics.txt", without_process(metrics_.text()));
  expect_golden("open_metrics.txt", without_process(metrics_.text(Exposition::open_metrics)));
}

TEST_F(MetricsTest, M108_http2_frames_are_counted_by_side_and_code) {
  metrics_.count_http2_resets(Http2Side::upstream, policy::Http2Code::cancel, 2);
  metrics_.count_http2_resets(Http2Side::client, policy::Http2Code::other);
  EXPECT_EQ(value(R"(reprise_http2_resets_total{side="upstream",code="cancel"})"), "2");
  EXPECT_EQ(value(R"(reprise_http2_resets_total{side="client",code="other"})"), "1");
  EXPECT_EQ(value(R"(reprise_http2_resets_total{side="client",code="cancel"})"), "") << "never counted";
  EXPECT_EQ(value(R"(reprise_http2_connections{side="client"})"), "0");
  EXPECT_EQ(http2_code_words.size(), 15U) << "the 14 codes of RFC 9113 and `other`";
}

TEST_F(MetricsTest, totals_equal_the_counted_events) {
  for (const ScriptedRequest& story : all_stories()) metrics_.count(story.record());
  metrics_.count_rejection(1);
  metrics_.client_connected();
  const Metrics::Totals totals = metrics_.totals();
  EXPECT_EQ(totals.requests, all_stories().size() - 1) << "one story is of a tunnel";
  EXPECT_EQ(totals.attempts, 67U);
  EXPECT_EQ(totals.retries, 49U);
  EXPECT_EQ(totals.recovered, 4U);
  EXPECT_EQ(totals.exhausted, 3U);
  EXPECT_EQ(totals.rejected, 1U);
  EXPECT_EQ(totals.client_connections, 1);
}

// A reason to retry is counted only as a retry. A reason not to retry, except success, is counted only as a
// refused retry.
TEST(MetricsReasons, each_reason_has_exactly_one_series) {
  for (const Reason reason : policy::all_reasons()) {
    Metrics metrics(route_names, rejections, "1");
    ScriptedRequest story("one", "GET", "/");
    if (policy::is_retry(reason)) {
      story.attempt(status(503), 1, {true, {}, reason}).attempt(status(200), 1, stop(Reason::success));
    } else {
      story.attempt(status(503), 1, stop(reason));
    }
    metrics.count(story.ends(Ending::complete, 200).record());
    const std::string text = metrics.text();
    const std::string word(policy::word(reason));
    const bool refused = !policy::is_retry(reason) && reason != Reason::success;
    EXPECT_EQ(count_starting(text, "reprise_retries_total{"), policy::is_retry(reason) ? 1U : 0U) << word;
    EXPECT_EQ(count_starting(text, "reprise_retries_refused_total{"), refused ? 1U : 0U) << word;
    const std::string labels = "{route=\"api\",reason=\"" + word + "\"}";
    EXPECT_EQ(value_of(text, "reprise_retries_total" + labels), policy::is_retry(reason) ? "1" : "") << word;
    EXPECT_EQ(value_of(text, "reprise_retries_refused_total" + labels), refused ? "1" : "") << word;
    EXPECT_EQ(value_of(text, "reprise_exhausted_total" + labels), is_exhausted(reason) ? "1" : "") << word;
    // A hedge is not a recovery, because no failure came before it.
    const bool recovered = policy::is_retry(reason) && reason != Reason::hedged;
    EXPECT_EQ(value_of(text, "reprise_recovered_total{route=\"api\"}"), recovered ? "1" : "0");
  }
}

TEST_F(MetricsTest, interrupted_backoff_counts_under_the_reason_that_ended_it) {
  ScriptedRequest story("ended", "GET", "/");
  story.attempt(status(503), 1, {true, milliseconds(10), Reason::retryable_status})
      .attempt(status(503), 1, {false, milliseconds(500), Reason::shutting_down});
  metrics_.count(story.ends(Ending::complete, 503).record());
  EXPECT_EQ(value("reprise_retries_refused_total{route=\"api\",reason=\"shutting_down\"}"), "1");
  EXPECT_EQ(value("reprise_retries_total{route=\"api\",reason=\"retryable_status\"}"), "1");
  EXPECT_EQ(value("reprise_backoff_seconds_count{route=\"api\"}"), "1") << "the wait that became a retry";
}

TEST_F(MetricsTest, code_label_is_the_status_sent_or_the_word_for_how_the_request_ended) {
  const ScriptedRequest story =
      ScriptedRequest("any", "GET", "/").attempt(status(200), 1, stop(Reason::success));
  ExchangeRecord record = story.record();
  const auto count = [&](Ending ending, int code) {
    record.ending = ending;
    record.status = code;
    metrics_.count(record);
  };
  count(Ending::complete, 200);
  count(Ending::cut, 200);
  count(Ending::client_gone, 0);
  count(Ending::client_gone, 206);
  count(Ending::complete, 599);
  EXPECT_EQ(value("reprise_requests_total{route=\"api\",code=\"200\"}"), "1");
  EXPECT_EQ(value("reprise_requests_total{route=\"api\",code=\"cut\"}"), "1");
  EXPECT_EQ(value("reprise_requests_total{route=\"api\",code=\"client_gone\"}"), "1");
  EXPECT_EQ(value("reprise_requests_total{route=\"api\",code=\"206\"}"), "1");
  EXPECT_EQ(value("reprise_requests_total{route=\"api\",code=\"599\"}"), "1");
}

TEST_F(MetricsTest, every_possible_outcome_has_its_label) {
  const std::set<std::string_view> labels(OutcomeLabels::words.begin(), OutcomeLabels::words.end());
  const OutcomeLabels places;
  std::set<std::string_view> seen;
  const auto check = [&](const policy::Outcome& outcome) {
    const std::size_t place = places.index(outcome);
    ASSERT_LT(place, OutcomeLabels::words.size());
    EXPECT_EQ(OutcomeLabels::words[place], policy::outcome_label(outcome));
    seen.insert(OutcomeLabels::words[place]);
  };
  for (int code = 200; code <= policy::highest_status; ++code) check(status(code));
  for (std::size_t i = 0; i < policy::grpc_status_count; ++i) {
    policy::Outcome outcome = call_status(static_cast<policy::GrpcStatus>(i));
    check(outcome);
    std::get<policy::Responded>(outcome).status = 503;
    check(outcome);
  }
  for (int stage = 0; stage < policy::stage_count; ++stage) {
    for (int cause = 0; cause < policy::cause_count; ++cause) {
      check(failure(static_cast<policy::Stage>(stage), static_cast<policy::Cause>(cause)));
    }
  }
  EXPECT_EQ(seen, labels);
}

TEST_F(MetricsTest, recovered_counts_only_complete_successful_responses_after_a_retry) {
  ScriptedRequest story("cut", "GET", "/");
  story.attempt(status(503), 1, {true, {}, Reason::retryable_status})
      .attempt(status(200), 1, stop(Reason::success));
  metrics_.count(story.ends(Ending::cut, 200).record());
  metrics_.count(story.ends(Ending::complete, 404).record());
  metrics_.count(story.ends(Ending::client_gone, 0).record());
  EXPECT_EQ(value("reprise_recovered_total{route=\"api\"}"), "0");
  metrics_.count(story.ends(Ending::complete, 200).record());
  EXPECT_EQ(value("reprise_recovered_total{route=\"api\"}"), "1");
}

TEST_F(MetricsTest, response_with_a_failing_body_does_not_count_as_recovered) {
  const policy::Outcome listed = policy::Responded{200, {}, true};
  ScriptedRequest story("listed", "GET", "/");
  story.attempt(listed, 1, {true, {}, Reason::retryable_body})
      .attempt(listed, 1, stop(Reason::attempts_spent));
  metrics_.count(story.ends(Ending::complete, 200).record());
  EXPECT_EQ(value("reprise_recovered_total{route=\"api\"}"), "0");
  EXPECT_EQ(value("reprise_retries_total{route=\"api\",reason=\"retryable_body\"}"), "1");
  ScriptedRequest better("listed", "GET", "/");
  better.attempt(listed, 1, {true, {}, Reason::retryable_body})
      .attempt(status(200), 1, stop(Reason::success));
  metrics_.count(better.ends(Ending::complete, 200).record());
  EXPECT_EQ(value("reprise_recovered_total{route=\"api\"}"), "1");
}

TEST_F(MetricsTest, only_complete_downloads_count_as_resumed) {
  ScriptedRequest story("cut", "GET", "/");
  story.attempt(failure(policy::Stage::body, policy::Cause::truncated), 1, {true, {}, Reason::resumed})
      .attempt(status(206), 1, stop(Reason::resume_mismatch));
  metrics_.count(story.ends(Ending::cut, 200).record());
  EXPECT_EQ(value("reprise_resumed_downloads_total{route=\"api\"}"), "0");
  metrics_.count(story.ends(Ending::complete, 200).record());
  EXPECT_EQ(value("reprise_resumed_downloads_total{route=\"api\"}"), "1");
  EXPECT_EQ(value("reprise_recovered_total{route=\"api\"}"), "1");
}

TEST_F(MetricsTest, histogram_bucket_counts_values_at_or_below_its_bound) {
  ScriptedRequest two("two", "GET", "/");
  two.attempt(status(503), 1, {true, milliseconds(249), Reason::retryable_status})
      .attempt(status(200), 0, stop(Reason::success));
  metrics_.count(two.ends(Ending::complete, 200).record());
  EXPECT_EQ(value("reprise_attempts_per_request_bucket{route=\"api\",le=\"1\"}"), "0");
  EXPECT_EQ(value("reprise_attempts_per_request_bucket{route=\"api\",le=\"2\"}"), "1");
  EXPECT_EQ(value("reprise_attempts_per_request_bucket{route=\"api\",le=\"+Inf\"}"), "1");
  EXPECT_EQ(value("reprise_request_duration_seconds_bucket{route=\"api\",le=\"0.1\"}"), "0");
  EXPECT_EQ(value("reprise_request_duration_seconds_bucket{route=\"api\",le=\"0.25\"}"), "1");
  EXPECT_EQ(value("reprise_request_duration_seconds_sum{route=\"api\"}"), "0.25");
}

TEST_F(MetricsTest, N13_opened_tunnels_and_upgraded_connections_do_not_count_as_requests) {
  ScriptedRequest tunnel("tunnel", "CONNECT", "");
  tunnel.attempt(status(200), 1, stop(Reason::success)).tunnel().carried(Carried::tls);
  metrics_.count(tunnel.took(milliseconds(60000)).ends(Ending::complete, 200).record());
  ScriptedRequest upgraded("upgraded", "GET", "/socket");
  upgraded.attempt(status(101), 1, stop(Reason::success)).carried(Carried::upgraded);
  metrics_.count(upgraded.took(milliseconds(60000)).ends(Ending::complete, 101).record());
  EXPECT_EQ(value("reprise_requests_total{route=\"api\",code=\"200\"}"), "");
  EXPECT_EQ(value("reprise_requests_total{route=\"api\",code=\"101\"}"), "");
  EXPECT_EQ(value("reprise_request_duration_seconds_count{route=\"api\"}"), "");
  EXPECT_EQ(value("reprise_attempts_per_request_count{route=\"api\"}"), "2");
  EXPECT_EQ(value("reprise_attempts_total{route=\"api\",outcome=\"2xx\"}"), "2") << "attempts are counted";
}

TEST_F(MetricsTest, attempt_durations_are_per_upstream_and_bytes_per_route) {
  ScriptedRequest two("two", "POST", "/");
  two.attempt(status(503), 40, {true, milliseconds(1), Reason::retryable_status})
      .attempt(status(200), 10, stop(Reason::success));
  two.ends(Ending::complete, 200);
  ExchangeRecord record = two.record();
  record.upstream = &metrics_.upstream("api.internal:80");
  record.request_bytes = 300;
  record.response_bytes = 5000;
  metrics_.count(record);
  metrics_.count(record);
  const std::string upstream = "{upstream=\"api.internal:80\"";
  EXPECT_EQ(value("reprise_upstream_attempt_duration_seconds_count" + upstream + "}"), "4");
  EXPECT_EQ(value("reprise_upstream_attempt_duration_seconds_bucket" + upstream + ",le=\"0.01\"}"), "2");
  EXPECT_EQ(value("reprise_upstream_attempt_duration_seconds_bucket" + upstream + ",le=\"0.05\"}"), "4");
  EXPECT_EQ(value("reprise_request_bytes_total{route=\"api\"}"), "600");
  EXPECT_EQ(value("reprise_response_bytes_total{route=\"api\"}"), "10000");
}

// The histogram counts every attempt, including those that the ledger has evicted.
TEST_F(MetricsTest, duration_histogram_includes_attempts_evicted_from_the_ledger) {
  ScriptedRequest patient("patient", "GET", "/");
  for (int i = 0; i < 99; ++i) patient.attempt(status(503), 20, {true, {}, Reason::retryable_status});
  patient.attempt(status(200), 20, stop(Reason::success)).ends(Ending::complete, 200);
  ExchangeRecord record = patient.record();
  record.upstream = &metrics_.upstream("api.internal:80");
  metrics_.count(record);
  const std::string upstream = "{upstream=\"api.internal:80\"";
  EXPECT_EQ(value("reprise_upstream_attempt_duration_seconds_count" + upstream + "}"), "100");
  EXPECT_EQ(value("reprise_upstream_attempt_duration_seconds_bucket" + upstream + ",le=\"0.025\"}"), "100");
  EXPECT_EQ(value("reprise_upstream_attempt_duration_seconds_bucket" + upstream + ",le=\"0.01\"}"), "0");
}

TEST(OpenMetrics, openmetrics_texts_and_numbers_follow_the_standard) {
  prometheus::MetricFamily odd{
      "odd_seconds", "a \\ and \"quotes\"\nand a line", prometheus::MetricType::Gauge, {}};
  prometheus::ClientMetric metric;
  metric.label = {{"name", "\"\\\n"}};
  metric.gauge.value = std::numeric_limits<double>::infinity();
  odd.metric.push_back(metric);
  EXPECT_EQ(open_metrics({odd}),
            "# TYPE odd_seconds gauge\n# UNIT odd_seconds seconds\n"
            "# HELP odd_seconds a \\\\ and \\\"quotes\\\"\\nand a line\n"
            "odd_seconds{name=\"\\\"\\\\\\n\"} +Inf\n# EOF\n");
  EXPECT_EQ(open_metrics({}), "# EOF\n");
}

TEST_F(MetricsTest, N13_refused_tunnel_counts_as_a_request) {
  ScriptedRequest refused("refused", "CONNECT", "");
  metrics_.count(refused.tunnel().took(milliseconds(100)).ends(Ending::complete, 502).record());
  EXPECT_EQ(value("reprise_requests_total{route=\"api\",code=\"502\"}"), "1");
  EXPECT_EQ(value("reprise_request_duration_seconds_count{route=\"api\"}"), "1");
}

TEST(UnreadHosts, N13_only_the_first_tunnel_to_a_host_is_reported_as_new) {
  UnreadHosts hosts;
  EXPECT_TRUE(hosts.count("a.test:443", "a.test"));
  EXPECT_TRUE(hosts.count("b.test:443", "b.test"));
  EXPECT_FALSE(hosts.count("b.test:443", "b.test"));
  EXPECT_TRUE(hosts.count("b.test:8443", {}));
  const auto list = hosts.list(2);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].name + " " + list[0].intercept, "b.test:443 b.test");
  EXPECT_EQ(list[0].tunnels, 2U);
  EXPECT_EQ(list[1].name, "a.test:443");
  EXPECT_EQ(list[2].name, "other");
  EXPECT_EQ(list[2].tunnels, 1U);
}

TEST(UnreadHosts, N13_hosts_beyond_the_table_limit_count_as_other) {
  UnreadHosts hosts;
  for (std::size_t i = 0; i < UnreadHosts::most_named; ++i) EXPECT_TRUE(hosts.count(std::to_string(i), {}));
  EXPECT_FALSE(hosts.count("one-more", {}));
  EXPECT_EQ(hosts.list(UnreadHosts::most_named).back().name, "other");
  EXPECT_EQ(hosts.list(UnreadHosts::most_named).back().tunnels, 1U);
}

TEST_F(MetricsTest, configuration_hash_has_exactly_one_series) {
  metrics_.set_config_hash("first", 100);
  metrics_.set_config_hash("second", 200);
  metrics_.set_config_hash("second", 200);
  EXPECT_EQ(count_starting(metrics_.text(), "reprise_config_info{"), 1U);
  EXPECT_EQ(value("reprise_config_info{hash=\"second\"}"), "1");
}

TEST_F(MetricsTest, last_reload_result_is_exported_until_the_next_reload) {
  const std::string succeeded = "reprise_config_last_reload_successful";
  const std::string since = "reprise_config_last_reload_success_timestamp_seconds";
  metrics_.set_config_hash("first", 100);
  EXPECT_EQ(value(succeeded), "1") << "the start counts";
  metrics_.count_reload(ReloadOutcome::failed);
  EXPECT_EQ(value(succeeded), "0");
  EXPECT_EQ(value(since), "100");
  metrics_.set_config_hash("second", 200);
  metrics_.count_reload(ReloadOutcome::success);
  EXPECT_EQ(value(succeeded), "1");
  EXPECT_EQ(value(since), "200");
}

// No text that a client sends becomes a label value.
TEST_F(MetricsTest, H8_labels_never_come_from_traffic) {
  for (const ScriptedRequest& story : all_stories()) {
    if (story.name() == "hostile") metrics_.count(story.record());
  }
  const std::string text = metrics_.text();
  EXPECT_EQ(text.find("evil"), std::string::npos);
  EXPECT_EQ(text.find("GE"), std::string::npos) << "the method";
  EXPECT_EQ(text.find("owned"), std::string::npos);
  EXPECT_EQ(value("reprise_requests_total{route=\"api\",code=\"200\"}"), "1");
}

TEST_F(MetricsTest, concurrent_threads_lose_no_counts) {
  constexpr int each = 20000;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      const ScriptedRequest story = all_stories().at(1);
      for (int n = 0; n < each; ++n) {
        metrics_.count(story.record());
        metrics_.client_connected();
        metrics_.client_disconnected();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Metrics::Totals totals = metrics_.totals();
  EXPECT_EQ(totals.requests, 4U * each);
  EXPECT_EQ(totals.attempts, 12U * each);
  EXPECT_EQ(totals.retries, 8U * each);
  EXPECT_EQ(totals.recovered, 4U * each);
  EXPECT_EQ(totals.client_connections, 0);
  EXPECT_EQ(value("reprise_attempts_per_request_count{route=\"api\"}"), "80000");
  EXPECT_EQ(value("reprise_attempts_per_request_sum{route=\"api\"}"), "240000");
}

TEST_F(MetricsTest, process_metrics_have_plausible_values) {
  const std::string text = metrics_.text();
  const auto number = [&](const std::string& name) { return std::stod("0" + value_of(text, name)); };
  EXPECT_GT(number("process_resident_memory_bytes"), 1e6);
  EXPECT_GE(number("process_open_fds"), 3);
  EXPECT_GE(number("process_max_fds"), number("process_open_fds"));
  EXPECT_GE(number("process_threads"), 1);
  EXPECT_GT(number("process_start_time_seconds"), 1.6e9);
  EXPECT_FALSE(value_of(text, "process_cpu_seconds_total").empty());
}

TEST(ProcessStat, process_stat_is_parsed_for_any_process_name) {
  const auto stat = parse_process_stat(
      "42 (a b) R (c)) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 5 18 900 20000 33 18446744073709551615");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->cpu_ticks, 11 + 12);
  EXPECT_EQ(stat->threads, 5);
  EXPECT_EQ(stat->start_ticks, 900);
  EXPECT_EQ(stat->resident_pages, 33);
  EXPECT_FALSE(parse_process_stat("42 (short) S 1 2"));
  EXPECT_FALSE(parse_process_stat(""));
}

TEST_F(MetricsTest, every_exported_metric_is_in_the_table_and_the_table_is_in_the_readme) {
  std::string reference = "| name | labels | meaning |\n|---|---|---|\n";
  for (const MetricRow& each : metric_rows())
    reference += "| `" + std::string(each.name) + "` | " + std::string(each.labels) + " | " +
                 std::string(each.help) + " |\n";
  for (const std::string& line : lines_of(metrics_.text())) {
    if (line.rfind("# TYPE ", 0) != 0) continue;
    const std::string name = line.substr(7, line.find(' ', 7) - 7);
    EXPECT_NE(reference.find("| `" + name + "` |"), std::string::npos) << name;
  }
  const std::string readme =
      read_file(std::string(REPRISE_SOURCE_DIR) + "/proxy/telemetry/metrics/README.md");
  EXPECT_NE(readme.find(reference), std::string::npos) << "the table must be:\n" << reference;
}

TEST_F(MetricsTest, every_metric_of_the_table_is_exported_after_events) {
  for (const ScriptedRequest& story : all_stories()) {
    ExchangeRecord record = story.record();
    policy::Ledger ledger = *record.ledger;
    ledger.hedge = policy::HedgeOutcome::won;
    record.ledger = &ledger;
    record.upstream = &metrics_.upstream("a.test:80");
    metrics_.count(record);
  }
  metrics_.count_rejection(0);
  metrics_.set_config_hash("deadbeef", 1'700'000'000);
  metrics_.set_budget_ratio("a.test:80", 1);
  metrics_.set_circuit_state("a.test:80", policy::Circuit::State::closed);
  metrics_.set_certificate_left(CertificateUse::client, -1);
  metrics_.count_http2_goaways(Http2Side::upstream, policy::Http2Code::no_error);
  metrics_.count_http2_resets(Http2Side::upstream, policy::Http2Code::cancel);
  metrics_.count_http2_wait(milliseconds(1));
  const std::string text = metrics_.text();
  for (const MetricRow& each : metric_rows())
    EXPECT_EQ(count_starting(text, "# TYPE " + std::string(each.name) + " "), 1U) << each.name;
}

/// Returns `a b c` if the help text of the metric ends with `: a b c.`
std::string words_told_by(Metric metric) {
  const std::string_view help = row(metric).help;
  const std::size_t colon = help.rfind(": ");
  return colon == std::string_view::npos ? "" : std::string(help.substr(colon + 2, help.size() - colon - 3));
}

std::string joined(const auto& words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

std::vector<std::string_view> limits() {
  std::vector<std::string_view> words;
  for (const Reason reason : policy::all_reasons()) {
    if (is_exhausted(reason)) words.push_back(word(reason));
  }
  return words;
}

// Help texts are written by hand. Only this test notices that the word of a new outcome is missing.
TEST(MetricTable, help_text_that_lists_label_values_lists_all_of_them) {
  EXPECT_EQ(words_told_by(Metric::attempts), joined(policy::outcome_labels));
  EXPECT_EQ(words_told_by(Metric::dns_lookups), joined(lookup_words));
}

/// Returns true if the text names the metric, or a series of the metric if it is a histogram.
bool names(std::string_view text, std::string_view metric) {
  constexpr std::string_view of_words = "abcdefghijklmnopqrstuvwxyz_";
  for (std::size_t at = text.find(metric); at != std::string_view::npos; at = text.find(metric, at + 1)) {
    const std::string_view rest = text.substr(at + metric.size());
    const std::string_view more = rest.substr(0, rest.find_first_not_of(of_words));
    if (more.empty() || more == "_bucket" || more == "_sum" || more == "_count") return true;
  }
  return false;
}

TEST(MetricTable, each_metric_that_begins_with_reprise_is_shown_on_the_dashboard) {
  const std::string dashboard = read_file(std::string(REPRISE_SOURCE_DIR) + "/deploy/grafana/reprise.json");
  for (const MetricRow& each : metric_rows()) {
    if (!each.name.starts_with("reprise_")) continue;
    EXPECT_TRUE(names(dashboard, each.name)) << each.name << ": deploy/grafana/make.py shows it nowhere";
  }
}

// The text of the alert is written by hand. Only this test notices a reason that is missing from the text.
TEST(MetricTable, exhausted_alert_explains_every_limit_and_no_other_reason) {
  const std::string alerts = read_file(std::string(REPRISE_SOURCE_DIR) + "/deploy/prometheus/alerts.yaml");
  const std::size_t begin = alerts.find("- alert: RepriseExhausted\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string alert = alerts.substr(begin, alerts.find("- alert: ", begin + 1) - begin);
  std::vector<std::string_view> explained;
  for (const Reason reason : policy::all_reasons()) {
    if (names(alert, word(reason))) explained.push_back(word(reason));
  }
  EXPECT_EQ(joined(explained), joined(limits()));
}

TEST_F(MetricsTest, M113_call_is_a_failure_if_its_status_reports_one_of_the_server) {
  const auto count = [this](policy::GrpcStatus status, Ending ending) {
    ScriptedRequest story("x", "POST", "/");
    ExchangeRecord record = story.ends(ending, 200).record();
    record.is_call = true;
    record.grpc = status;
    metrics_.count(record);
  };
  for (std::size_t i = 0; i < policy::grpc_status_count; ++i)
    count(static_cast<policy::GrpcStatus>(i), Ending::complete);
  count(policy::GrpcStatus::unavailable, Ending::cut);
  const Metrics::Counts expected{{"2xx", 11}, {"grpc", 6}, {"cut", 1}};
  EXPECT_EQ(metrics_.totals_of(0).responses, expected);
  std::uint32_t failed = 0;
  for (const auto& second : metrics_.last_minute_of(0, {})) failed += second.numbers.failed;
  EXPECT_EQ(failed, 7U) << "a call that is cut counts once";
}

TEST_F(MetricsTest, totals_contain_response_classes_and_durations_and_upstream_outcomes) {
  using Counts = Metrics::Counts;
  EXPECT_TRUE(metrics_.totals_of(0).responses.empty());
  EXPECT_TRUE(metrics_.totals_of(0).durations.empty());
  EXPECT_TRUE(metrics_.upstream_totals({}).empty());
  const auto count = [this](Ending ending, int status, milliseconds took) {
    ScriptedRequest story("x", "GET", "/");
    ExchangeRecord record = story.ends(ending, status).took(took).record();
    record.upstream = &metrics_.upstream("a.test:80");
    metrics_.count(record);
  };
  for (const int status : {101, 200, 204, 304, 404, 500, 599})
    count(Ending::complete, status, milliseconds(7));
  count(Ending::cut, 200, std::chrono::hours(1));
  count(Ending::client_gone, 0, milliseconds(0));
  const Metrics::RouteTotals totals = metrics_.totals_of(0);
  EXPECT_EQ(
      totals.responses,
      (Counts{{"1xx", 1}, {"2xx", 2}, {"3xx", 1}, {"4xx", 1}, {"5xx", 2}, {"cut", 1}, {"client_gone", 1}}));
  ASSERT_EQ(totals.durations.size(), Metrics::duration_bounds().size() + 1);
  EXPECT_EQ(totals.durations.front(), 1U);
  EXPECT_EQ(totals.durations[3], 7U) << "above 5 ms, at most 10";
  EXPECT_EQ(totals.durations.back(), 1U) << "above every bound";
  EXPECT_TRUE(metrics_.upstream_totals({}).empty()) << "no attempt was made";
  metrics_.upstream("a.test:80").attempts[3] = 4;
  const auto upstreams = metrics_.upstream_totals({});
  ASSERT_EQ(upstreams.size(), 1U);
  EXPECT_EQ(upstreams[0].attempts, (Counts{{"5xx", 4}}));
  metrics_.upstream_changed(UpstreamState::active, 3);
  metrics_.upstream_changed(UpstreamState::idle, 2);
  EXPECT_EQ(metrics_.totals().upstream_active, 3);
  EXPECT_EQ(metrics_.totals().upstream_idle, 2);
  metrics_.http2_connections_changed(Http2Side::upstream, 2);
  metrics_.http2_streams_changed(Http2Side::upstream, 4);
  EXPECT_EQ(metrics_.totals().http2_connections, 2);
  EXPECT_EQ(metrics_.totals().http2_streams, 4);
}

}  // namespace
}  // namespace reprise::telemetry::metrics_test
