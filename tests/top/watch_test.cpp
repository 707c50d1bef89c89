// Tests how status documents become figures: rates, shares, quantiles, restarts, lost connections, and routes
// that appear and disappear.
#include "proxy/tools/top/watch.hpp"

#include "proxy/tools/top/lines.hpp"
#include "tests/top/proxy_story.hpp"

namespace reprise::tools {
namespace {

Status status(int uptime, int requests, const std::string& routes, const std::string& more = "") {
  return *read_status(status_json(uptime, requests, routes, more), nullptr).value;
}

std::string route(const std::string& name, int requests) {
  return route_json(name, R"("requests":)" + std::to_string(requests) + R"(,"refused":{})");
}

TEST(Reading, malformed_status_is_rejected_with_a_reason) {
  for (const char* text :
       {"", "{", "nonsense", "[]", "{}", R"({"version":"1"})", "\xff", "{\"routes\":[],\"version\":\"\xc3\"}",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"}) {
    const auto read = read_status(text, nullptr);
    EXPECT_FALSE(read.value) << text;
    EXPECT_FALSE(read.why.empty()) << text;
    EXPECT_FALSE(read_requests(std::string(text) == "[]" ? "{}" : text, nullptr).value) << text;
  }
}

TEST(Reading, members_that_are_missing_or_mistyped_are_ignored) {
  const auto read = read_status(
      R"({"version":7,"routes":[1,{"name":null,"requests":"many","refused":[],"durations":[null]},{}],
    "config":[],"reload":{"outcome":"success"},"totals":{"requests":-3,"client_connections":1e300},"budgets":{"a:1":0.25,"b:2":"x"},
    "listeners":"x","ready":1})",
      nullptr);
  ASSERT_TRUE(read.value) << read.why;
  EXPECT_EQ(read.value->version, "");
  ASSERT_EQ(read.value->routes.size(), 2U);
  EXPECT_EQ(read.value->routes[0].counts.requests, 0U);
  EXPECT_FALSE(read.value->config_file);
  EXPECT_TRUE(read.value->reload->succeeded);
  EXPECT_EQ(read.value->requests, 0U);
  EXPECT_FALSE(read.value->ready);
  ASSERT_EQ(read.value->upstreams.size(), 1U);
  EXPECT_EQ(read.value->upstreams[0].name, "a:1");
  EXPECT_EQ(read.value->upstreams[0].budget_left, 0.25);
  EXPECT_FALSE(read.value->upstream_active);
}

TEST(Reading, budget_belongs_to_the_upstream_of_the_same_name) {
  const Status read = status(
      1, 1, "",
      R"(,"upstreams":[{"name":"a:1","attempts":{"2xx":3,"5xx":1},"circuit":"half_open"}],"budgets":{"a:1":0.5})");
  ASSERT_EQ(read.upstreams.size(), 1U);
  EXPECT_EQ(read.upstreams[0].attempts, 4U);
  EXPECT_EQ(read.upstreams[0].budget_left, 0.5);
  EXPECT_EQ(read.upstreams[0].circuit, "half_open");
}

TEST(Reading, target_of_a_request_is_shown_as_a_url_and_that_of_a_tunnel_as_host_and_port) {
  const auto target = [](const std::string& members) {
    return read_requests("[{" + members + "}]", nullptr).value->front().target;
  };
  EXPECT_EQ(target(R"("host":"a","port":80,"path":"/x")"), "http://a/x");
  EXPECT_EQ(target(R"("host":"a","port":8080,"path":"/x")"), "http://a:8080/x");
  EXPECT_EQ(target(R"("host":"a","port":443,"path":"/","tls":true)"), "https://a/");
  EXPECT_EQ(target(R"("host":"::1","port":81)"), "http://[::1]:81");
  EXPECT_EQ(target(R"("host":"a","port":443,"tunnel":true)"), "a:443");
}

TEST(Watch, rates_are_computed_over_the_configured_window_only) {
  Watch watch(2);
  for (int i = 0; i <= 5; ++i) watch.took(status(i, 100 * i, route("a", 10 * i * i)), i);
  // Only the last two seconds count. In these two seconds, the counter grows from 90 to 250.
  EXPECT_DOUBLE_EQ(watch.routes()[0].rate(watch.routes()[0].recent.requests), 80);
  EXPECT_DOUBLE_EQ(watch.rate(), 100);
}

TEST(Watch, rate_is_zero_after_a_single_reading_of_the_status) {
  Watch watch(10);
  EXPECT_TRUE(watch.empty());
  EXPECT_TRUE(watch.routes().empty());
  EXPECT_TRUE(watch.upstreams().empty());
  watch.took(status(1, 5, route("a", 5)), 1);
  EXPECT_EQ(watch.routes()[0].span, 0);
  EXPECT_EQ(watch.routes()[0].rate(7), 0);
  EXPECT_EQ(watch.rate(), 0);
}

TEST(Watch, figures_computed_from_the_example_status_are_correct) {
  const Watch watch = seen(after_json(troubled), utf8());
  const RouteFigures payments = watch.routes()[0];
  EXPECT_EQ(payments.recent.requests, 400U);
  EXPECT_DOUBLE_EQ(*payments.success, 370.0 / 400.0);
  EXPECT_EQ(payments.recent.refused, (CountsByWord{{"not_idempotent", 7}, {"budget_spent", 4}}));
  ASSERT_TRUE(payments.p99);
  EXPECT_GT(payments.p99->seconds, 2.5);
  const auto upstreams = watch.upstreams();
  ASSERT_EQ(upstreams.size(), 2U);
  EXPECT_DOUBLE_EQ(upstreams[0].attempts_a_second, 53);
}

TEST(Watch, client_that_left_does_not_count_as_a_failure) {
  const auto with = [](const std::string& responses) {
    Watch watch(1);
    watch.took(status(1, 1, route_json("a", R"("requests":0,"responses":{})")), 1);
    watch.took(status(2, 2, route_json("a", R"("requests":4,"responses":{)" + responses + "}")), 2);
    return watch.routes()[0].success;
  };
  EXPECT_EQ(with(R"("2xx":3,"client_gone":1)"), 1.0);
  EXPECT_EQ(with(R"("2xx":2,"4xx":1,"cut":1)"), 0.75);
  EXPECT_FALSE(with(R"("client_gone":4)"));
  EXPECT_EQ(with(R"("2xx":2,"4xx":1,"grpc":1)"), 0.75) << "a failed call is a failure (row M113)";
}

TEST(Watch, restart_discards_earlier_readings) {
  for (const bool by_start : {true, false}) {
    Watch watch(10);
    watch.took(status(100, 1000, route("a", 1000)), 1);
    watch.took(*read_requests(R"([{"id":"1-1"}])", nullptr).value);
    Status next = status(2, by_start ? 2000 : 3, route("a", by_start ? 2000 : 3));
    if (by_start) next.started += 99;
    watch.took(next, 2);
    EXPECT_EQ(watch.restarted_at(), 2.0);
    EXPECT_EQ(watch.routes()[0].span, 0) << "it is compared with nothing of before";
    EXPECT_TRUE(watch.stories().empty());
  }
}

TEST(Watch, new_or_reset_route_has_no_rate) {
  Watch watch(10);
  watch.took(status(1, 10, route("old", 5) + "," + route("anew", 5)), 1);
  watch.took(status(2, 20, route("anew", 1) + "," + route("new", 9) + "," + route("old", 6)), 2);
  const auto routes = watch.routes();
  ASSERT_EQ(routes.size(), 3U);
  EXPECT_EQ(routes[0].span, 0);
  EXPECT_EQ(routes[1].span, 0);
  EXPECT_EQ(routes[2].recent.requests, 1U);
}

TEST(Watch, connection_counts_as_lost_until_the_next_reading) {
  Watch watch(10);
  watch.lost("one", 3);
  watch.lost("two", 4);
  EXPECT_EQ(watch.loss()->why, "two");
  EXPECT_EQ(watch.loss()->since, 3);
  watch.took(status(1, 1, ""), 5);
  EXPECT_FALSE(watch.loss());
}

TEST(Quantile, quantile_is_interpolated_within_its_bucket) {
  const std::vector<double> three{1, 2, 4};
  EXPECT_FALSE(quantile(0.5, three, {0, 0, 0, 0}));
  EXPECT_FALSE(quantile(0.5, three, {1, 2}));
  EXPECT_FALSE(quantile(0.5, {}, {1}));
  EXPECT_DOUBLE_EQ(quantile(0.5, three, {10, 0, 0, 0})->seconds, 0.5);
  EXPECT_DOUBLE_EQ(quantile(0.5, three, {0, 0, 10, 0})->seconds, 3);
  EXPECT_DOUBLE_EQ(quantile(0.99, three, {50, 50, 0, 0})->seconds, 1.98);
  const auto beyond = quantile(0.99, three, {1, 0, 0, 9});
  EXPECT_TRUE(beyond->beyond);
  EXPECT_EQ(beyond->seconds, 4);
}

TEST(Stories, only_noteworthy_requests_are_shown) {
  const auto worth = [](const std::string& members) {
    return is_notable(read_requests("[{" + members + "}]", nullptr).value->front());
  };
  EXPECT_FALSE(worth(R"("reason":"success","ending":"complete","attempts":[{}])"));
  EXPECT_FALSE(worth(R"("reason":"not_retryable","ending":"complete","attempts":[{}])"));
  EXPECT_FALSE(worth(""));
  EXPECT_TRUE(worth(R"("reason":"success","attempts":[{},{}])"));
  EXPECT_TRUE(worth(R"("reason":"success","attempts_left_out":3)"));
  EXPECT_TRUE(worth(R"("reason":"success","recovered":true)"));
  EXPECT_TRUE(worth(R"("reason":"success","ending":"cut")"));
  EXPECT_TRUE(worth(R"("reason":"not_idempotent","ending":"complete")"));
}

TEST(Lines, each_route_has_one_line_per_interval) {
  constexpr std::int64_t wall = 1'767'348'000'000'000'000;
  const Watch watch = [] {
    Watch made(1);
    made.took(*read_status(before_json(), nullptr).value, 1000);
    made.took(*read_status(after_json(), nullptr).value, 1010);
    return made;
  }();
  expect_golden("lines.txt", interval_lines(watch, LineForm::text, wall));
  expect_golden("lines.jsonl", interval_lines(watch, LineForm::json, wall));
}

TEST(Lines, unknown_figures_are_printed_as_a_dash_in_text_and_as_null_in_json) {
  Watch watch(1);
  EXPECT_EQ(interval_lines(watch, LineForm::text, 0), "");
  watch.took(status(1, 1, route(R"(a \"b\"\u001b)", 1)), 1);
  EXPECT_EQ(interval_lines(watch, LineForm::text, 0), "");
  watch.took(status(2, 3, route(R"(a \"b\"\u001b)", 3)), 2);
  EXPECT_EQ(interval_lines(watch, LineForm::text, 0),
            "time=1970-01-01T00:00:00.000Z route=\"a \\\"b\\\"\\u001b\" seconds=1 requests=2 rate=2 "
            "success=- retries=0 recovered=0 "
            "exhausted=0 refused=- p50_ms=- p99_ms=-\n");
  EXPECT_NE(interval_lines(watch, LineForm::json, 0).find(R"("success":null)"), std::string::npos);
}

}  // namespace
}  // namespace reprise::tools
