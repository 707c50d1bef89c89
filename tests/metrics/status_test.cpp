#include "proxy/telemetry/metrics/status.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <memory>
#include <utility>

#include "proxy/telemetry/metrics/status_text.hpp"
#include "tests/metrics/golden.hpp"

namespace reprise::telemetry {
namespace {

config::Settings settings_with_routes() {
  policy::Route write;
  write.name = "orders \"write\"";
  write.line = 12;
  write.policy.mode = policy::Mode::observe;
  write.policy.idempotent.kind = policy::IdempotencyRule::Kind::any;
  write.policy.idempotent.conditions = {
      {policy::Condition::Kind::header, "Idempotency-Key", ""},
      {policy::Condition::Kind::query, "request_id", ""},
  };
  write.policy.retry.max_attempts.reset();
  write.policy.retry.deadline = std::chrono::milliseconds(1500);
  policy::Route off;
  off.name = "never-touch";
  off.line = 20;
  off.policy.mode = policy::Mode::off;
  off.policy.retry.deadline.reset();
  policy::Route fallback;
  fallback.name = "default";
  config::Settings settings;
  settings.routes =
      std::make_shared<policy::RouteTable>(std::vector<policy::Route>{write, off}, std::move(fallback));
  return settings;
}

StatusFacts facts() {
  StatusFacts out;
  out.version = "1.2.3";
  out.config_file = "/etc/reprise/reprise.yaml";
  out.config_hash = "deadbeef";
  out.started_unix = 1767348000;
  out.now_unix = 1767348192;
  out.limits.memory_bytes = 128 << 20;
  out.limits.memory_file = "/sys/fs/cgroup/memory.max";
  out.limits.words = "memory 128MiB (/sys/fs/cgroup/memory.max); held request bodies 64MiB";
  out.ready = true;
  out.listeners = {"forward 127.0.0.1:3128", "gateway 127.0.0.1:3180"};
  return out;
}

Metrics::Totals totals() { return {10, 13, 3, 2, 1, 4, 5, 0, 0, 8, 2, 7}; }

TEST(Status, status_json_matches_the_golden_file) {
  expect_golden("status.json", status_json(facts(), settings_with_routes(), totals()));
}

TEST(Status, status_json_reports_the_current_state_and_configuration) {
  const auto document = boost::json::parse(status_json(facts(), settings_with_routes(), totals()));
  EXPECT_EQ(document.at("uptime_seconds").as_int64(), 192);
  EXPECT_TRUE(document.at("ready").as_bool());
  EXPECT_FALSE(document.at("draining").as_bool());
  EXPECT_EQ(document.at("config").at("hash").as_string(), "deadbeef");
  EXPECT_EQ(document.at("listeners").as_array().size(), 2U);
  const auto& routes = document.at("routes").as_array();
  ASSERT_EQ(routes.size(), 3U);
  EXPECT_EQ(routes[0].at("name").as_string(), "orders \"write\"");
  EXPECT_EQ(routes[0].at("mode").as_string(), "observe");
  EXPECT_TRUE(routes[0].at("max_attempts").is_null());
  EXPECT_EQ(routes[0].at("deadline_seconds").as_double(), 1.5);
  EXPECT_EQ(routes[0].at("idempotent").as_string(),
            policy::describe(settings_with_routes().routes->operator[](0).policy.idempotent));
  EXPECT_TRUE(routes[1].at("deadline_seconds").is_null());
  EXPECT_EQ(routes[2].at("max_attempts").as_int64(), 6);
  EXPECT_EQ(document.at("totals").at("recovered").as_int64(), 2);
  EXPECT_EQ(document.at("totals").at("upstream_http2").at("connections").as_int64(), 2);
  EXPECT_EQ(document.at("totals").at("upstream_http2").at("streams").as_int64(), 7);
}

StatusFacts busy() {
  StatusFacts busy = facts();
  busy.routes = {
      {7, 3, 2, 1, {{"not_idempotent", 4}, {"client_gone", 1}}, {{"2xx", 6}, {"cut", 1}}, {0, 7}}, {}, {}};
  busy.upstreams = {
      {"a.test:80", {{"2xx", 9}, {"connect", 1}}, 0.25, policy::Circuit::State::half_open, 1.5, {}},
      {"other", {{"5xx", 1}}, {}, {}, {}, {}}};
  busy.unread = {{"api.test:443", 5, "api.test"}, {"10.0.0.1:443", 1, {}}, {"other", 2, {}}};
  busy.budgets = {{"a.test:80", 0.25}, {"b.test:80", 0.5}};
  busy.reload =
      StatusFacts::Reload{false, busy.now_unix - 90061, {"f:1:2: error: no", "f:2:1: error: nor this"}};
  return busy;
}

TEST(Status, status_reports_route_counts_budgets_and_the_last_reload) {
  const auto document = boost::json::parse(status_json(busy(), settings_with_routes(), totals()));
  const auto& route = document.at("routes").as_array()[0];
  EXPECT_EQ(route.at("requests").as_int64(), 7);
  EXPECT_EQ(route.at("refused").at("not_idempotent").as_int64(), 4);
  EXPECT_EQ(document.at("budgets").at("b.test:80").as_double(), 0.5);
  EXPECT_EQ(document.at("reload").at("outcome").as_string(), "failed");
  EXPECT_EQ(document.at("reload").at("errors").as_array().size(), 2U);
}

TEST(Status, N13_status_counts_tunnels_separately_and_suggests_hosts_to_intercept) {
  const auto document = boost::json::parse(status_json(busy(), settings_with_routes(), totals()));
  EXPECT_EQ(document.at("totals").at("requests").as_int64(), 10);
  EXPECT_EQ(document.at("totals").at("tunnels").as_int64(), 8);
  EXPECT_EQ(document.at("unread"), boost::json::parse(R"([
      {"name":"api.test:443","tunnels":5,"intercept":"api.test"},
      {"name":"10.0.0.1:443","tunnels":1,"intercept":null},
      {"name":"other","tunnels":2,"intercept":null}])"));
}

TEST(Status, status_reports_response_classes_and_durations_and_the_upstream_state) {
  const auto document = boost::json::parse(status_json(busy(), settings_with_routes(), totals()));
  const auto& route = document.at("routes").as_array()[0];
  EXPECT_EQ(route.at("responses"), boost::json::parse(R"({"2xx":6,"cut":1})"));
  EXPECT_EQ(route.at("durations"), boost::json::parse("[0,7]"));
  EXPECT_EQ(document.at("duration_bounds").as_array().size(), Metrics::duration_bounds().size());
  const auto expected = boost::json::parse(R"([
    {"name":"a.test:80","attempts":{"2xx":9,"connect":1},"budget_left":0.25,"circuit":"half_open","pause_seconds":1.5},
    {"name":"other","attempts":{"5xx":1}}])");
  EXPECT_EQ(document.at("upstreams"), expected);
}

TEST(Status, last_minute_is_listed_by_second_if_requested) {
  StatusFacts told = busy();
  EXPECT_EQ(status_json(told, settings_with_routes(), totals()).find("last_minute"), std::string::npos);
  RouteNumbers numbers;
  numbers.requests = 5;
  numbers.failed = 1;
  numbers.durations[2] = 5;
  told.minute = {17, {{{40, numbers}, {43, {}}}, {}, {}}};
  told.upstreams[0].last_minute = {{40, {6, 1}}, {41, {1, 0}}};
  const auto document = boost::json::parse(status_json(told, settings_with_routes(), totals()));
  EXPECT_EQ(document.at("last_minute_seconds").as_int64(), 17);
  EXPECT_EQ(document.at("routes").as_array()[0].at("last_minute"),
            boost::json::parse(R"([{"clock":40,"requests":5,"failed":1,"durations":[0,0,5]},{"clock":43}])"));
  EXPECT_EQ(document.at("routes").as_array()[1].at("last_minute"), boost::json::parse("[]"));
  EXPECT_EQ(document.at("upstreams").as_array()[0].at("last_minute"),
            boost::json::parse(R"([{"clock":40,"attempts":6,"failed":1},{"clock":41,"attempts":1}])"));
}

TEST(Status, seconds_since_the_start_count_partial_clock_seconds_as_whole_up_to_60) {
  using namespace std::chrono_literals;
  const auto lived = [](policy::Duration started, policy::Duration now) {
    return seconds_lived(policy::Instant(started), policy::Instant(now));
  };
  EXPECT_EQ(lived(9900ms, 9900ms), 1);
  EXPECT_EQ(lived(9000ms, 9999ms), 1);
  EXPECT_EQ(lived(9900ms, 10100ms), 2) << "requests of second 9 are of the last minute";
  EXPECT_EQ(lived(9900ms, 68999ms), 60);
  EXPECT_EQ(lived(9900ms, 1h), 60);
}

TEST(Status, status_lists_only_the_selected_routes) {
  const auto names = [](const RouteChoice& chosen) {
    std::string all;
    const auto document = boost::json::parse(status_json(busy(), settings_with_routes(), totals(), chosen));
    for (const auto& route : document.at("routes").as_array())
      all += std::string(route.at("name").as_string()) + ";";
    return all;
  };
  EXPECT_EQ(names({}), "orders \"write\";never-touch;default;");
  EXPECT_EQ(names({false, true, false}), "never-touch;");
  EXPECT_EQ(names({true, false, true}), "orders \"write\";default;");
  EXPECT_EQ(names({false, false, false}), "");
}

TEST(Status, status_text_reports_the_same_facts_as_the_json) {
  expect_golden("status.txt", status_text(busy(), settings_with_routes(), totals()) + "\n");
  StatusFacts plain = facts();
  plain.config_file = "";
  plain.ready = false;
  const std::string text = status_text(plain, settings_with_routes(), totals());
  EXPECT_NE(text.find("not ready"), std::string::npos);
  EXPECT_NE(text.find("built-in defaults"), std::string::npos);
  EXPECT_NE(text.find("none since the start"), std::string::npos);
  plain.reload = StatusFacts::Reload{true, plain.now_unix - 5, {}};
  EXPECT_NE(status_text(plain, settings_with_routes(), totals()).find("succeeded 00:00:05 ago"),
            std::string::npos);
}

TEST(Status, status_shows_no_configuration_file_for_defaults_and_never_a_negative_uptime) {
  StatusFacts none = facts();
  none.config_file = "";
  none.now_unix = none.started_unix - 5;
  none.listeners.clear();
  none.draining = true;
  const auto document = boost::json::parse(status_json(none, settings_with_routes(), {}));
  EXPECT_TRUE(document.at("config").at("file").is_null());
  EXPECT_TRUE(document.at("limits").at("cpus").is_null());
  EXPECT_EQ(document.at("uptime_seconds").as_int64(), 0);
  EXPECT_TRUE(document.at("listeners").as_array().empty());
  EXPECT_TRUE(document.at("draining").as_bool());
}

}  // namespace
}  // namespace reprise::telemetry
