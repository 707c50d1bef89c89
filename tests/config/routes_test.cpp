// Tests which layer (route, policy, defaults or built-in defaults) sets each key of a route.
#include <gtest/gtest.h>

#include <string>

#include "config/load.hpp"
#include "config/reach.hpp"

namespace reprise::config::routes_test {
namespace {

using namespace std::chrono_literals;
using policy::Condition;
using policy::IdempotencyRule;

Settings load(const std::string& text) {
  Loaded loaded = load_text("version: 1\n" + text, {});
  for (const Problem& problem : loaded.problems) {
    if (problem.severity == Problem::Severity::error) ADD_FAILURE() << to_line(problem, "f.yaml");
  }
  return loaded.settings ? *loaded.settings : built_in();
}

policy::RoutePolicy first(const std::string& text) { return (*load(text).routes)[0].policy; }

TEST(Clause, R21_unlimited_attempts_with_unlimited_deadline_are_rejected_everywhere) {
  const std::string endless = "retry: {max_attempts: unlimited, deadline: unlimited}";
  for (const std::string& text : {"defaults: {" + endless + "}\n", "routes: [{name: r, " + endless + "}]\n",
                                  "policies: {p: {" + endless + "}}\nroutes: [{name: r, policy: p}]\n"}) {
    EXPECT_FALSE(load_text("version: 1\n" + text, {}).settings.has_value()) << text;
  }
  EXPECT_TRUE(
      load_text("version: 1\ndefaults: {retry: {max_attempts: unlimited}}\n", {}).settings.has_value());
  EXPECT_TRUE(load_text("version: 1\ndefaults: {retry: {deadline: unlimited}}\n", {}).settings.has_value());
}

TEST(Precedence, route_overrides_policy_and_policy_overrides_defaults_key_by_key) {
  const Settings settings = load(R"(
defaults:
  retry: {max_attempts: 5, deadline: 30s, backoff: {initial: 100ms, jitter: equal}}
  connect_timeout: 1s
policies:
  patient: {retry: {deadline: 10m, backoff: {initial: 1s, maximum: 64s}}}
routes:
  - {name: r, policy: patient, retry: {backoff: {jitter: additive}}}
)");
  const auto& route = (*settings.routes)[0].policy;
  EXPECT_EQ(route.retry.backoff.jitter, policy::Jitter::additive);  // route
  EXPECT_EQ(route.retry.backoff.initial, 1s);                       // policy over defaults
  EXPECT_EQ(route.retry.backoff.maximum, 64s);                      // policy
  EXPECT_EQ(route.retry.deadline, Duration(10min));                 // policy over defaults
  EXPECT_EQ(route.retry.max_attempts, 5U);                          // defaults
  EXPECT_EQ(route.connect_timeout, 1s);                             // defaults
  EXPECT_EQ(route.retry.backoff.multiplier, 2);                     // built-in
  const auto& fallback = (*settings.routes)[1].policy;
  EXPECT_EQ(fallback.retry.backoff.initial, 100ms);
  EXPECT_EQ(fallback.retry.backoff.jitter, policy::Jitter::equal);
  EXPECT_EQ(fallback.retry.deadline, Duration(30s));
}

TEST(Precedence, route_replaces_inherited_lists_and_rules_as_a_whole) {
  const auto route = first(R"(
defaults: {retry: {on: [5xx, connect]}, idempotent: {any: [{header: A}]}}
routes:
  - {name: r, retry: {on: [429]}, idempotent: {all: [{query: q=1}, {json: k}]}}
)");
  EXPECT_EQ(route.retry.on.statuses.count(), 1U);
  EXPECT_TRUE(route.retry.on.statuses.test(429));
  EXPECT_FALSE(route.retry.on.connect);
  EXPECT_EQ(route.idempotent.kind, IdempotencyRule::Kind::all);
  ASSERT_EQ(route.idempotent.conditions.size(), 2U);
  EXPECT_EQ(route.idempotent.conditions[0], (Condition{Condition::Kind::query, "q", "1"}));
  EXPECT_EQ(route.idempotent.conditions[1], (Condition{Condition::Kind::json, "k", ""}));
}

TEST(Precedence, route_can_disable_a_default_by_a_word_and_enable_it_by_its_keys) {
  const std::string defaults = "defaults: {budget: off, retry: {attempt_timeout: 2s, deadline: unlimited}}\n";
  const auto off = first(defaults + "routes: [{name: r, retry: {attempt_timeout: none}}]");
  EXPECT_FALSE(off.budget);
  EXPECT_FALSE(off.retry.attempt_timeout);
  EXPECT_FALSE(off.retry.deadline);
  const auto on = first(defaults + "routes: [{name: r, budget: {ratio: 50%}, retry: {deadline: 5s}}]");
  ASSERT_TRUE(on.budget);
  EXPECT_EQ(on.budget->ratio, 0.5);
  EXPECT_EQ(on.budget->window, 10s);
  EXPECT_EQ(on.retry.attempt_timeout, Duration(2s));
  EXPECT_EQ(on.retry.deadline, Duration(5s));
}

TEST(Routes, routes_keep_their_order_and_default_is_last) {
  const Settings settings =
      load("routes: [{name: a, match: {host: A.Internal.}}, {name: b, match: {port: 81}}]");
  ASSERT_EQ(settings.routes->size(), 3U);
  EXPECT_EQ((*settings.routes)[0].name, "a");
  EXPECT_EQ((*settings.routes)[0].match.host.text, "a.internal");
  EXPECT_EQ((*settings.routes)[1].match.port, 81);
  EXPECT_EQ((*settings.routes)[2].name, "default");
}

TEST(Routes, retry_on_accepts_statuses_ranges_classes_and_failure_words) {
  const auto on = first("routes: [{name: r, retry: {on: [503, 520-529, 4xx, tls, timeout]}}]").retry.on;
  EXPECT_EQ(on.statuses.count(), 1U + 10U + 100U);
  EXPECT_TRUE(on.statuses.test(503) && on.statuses.test(520) && on.statuses.test(529) &&
              on.statuses.test(499));
  EXPECT_FALSE(on.statuses.test(530));
  EXPECT_TRUE(on.tls && on.timeout);
  EXPECT_FALSE(on.connect || on.reset || on.truncated);
}

TEST(Routes, query_and_header_conditions_may_be_lists_or_mappings) {
  const Settings settings = load(R"(
routes:
  - {name: list, match: {host: a, query: [a, b=1, "c=*"], headers: [X-A, X-B=two=2]}}
  - {name: mapping, match: {host: b, query: {a: , b: 1, c: "*"}, headers: {X-A: "*", X-B: two=2}}}
)");
  const auto& list = (*settings.routes)[0].match;
  const auto& mapping = (*settings.routes)[1].match;
  EXPECT_EQ(list.query, mapping.query);
  EXPECT_EQ(list.headers, mapping.headers);
  ASSERT_EQ(list.query.size(), 3U);
  EXPECT_EQ(list.query[0], (Condition{Condition::Kind::query, "a", ""}));
  EXPECT_EQ(list.query[1], (Condition{Condition::Kind::query, "b", "1"}));
  EXPECT_EQ(list.query[2], (Condition{Condition::Kind::query, "c", ""}));
  EXPECT_EQ(list.headers[1], (Condition{Condition::Kind::header, "X-B", "two=2"}));
}

TEST(Gateway, gateway_listener_has_upstream_and_host_mode) {
  const Settings settings = load(
      "listeners: [{mode: gateway, bind: 127.0.0.1:0, upstream: http://a.internal:81/base, host: client}]");
  const Listener& gateway = settings.listeners.front();
  EXPECT_EQ(gateway.mode, ListenerMode::gateway);
  EXPECT_EQ(gateway.upstream.host, "a.internal");
  EXPECT_EQ(gateway.upstream.port, 81);
  EXPECT_EQ(gateway.upstream.path_prefix, "/base");
  EXPECT_EQ(gateway.host, GatewayHost::client);
  EXPECT_EQ(gateway.redirects, GatewayRedirects::rewrite);
}

policy::Match match(const std::string& host, const std::string& path, std::vector<std::string> methods = {}) {
  policy::Match made;
  made.host.text = host;
  made.path = *policy::PathPattern::parse(path);
  made.methods = std::move(methods);
  return made;
}

TEST(Covers, route_covers_a_later_route_only_if_it_matches_all_requests_of_that_route) {
  struct Row {
    policy::Match earlier;
    policy::Match later;
    bool covered;
  };
  const std::vector<Row> table{
      {match("", "/**"), match("a", "/x", {"GET"}), true},
      {match("*.a", "/**"), match("b.a", "/**"), true},
      {match("*.a", "/**"), match("*.b.a", "/**"), true},
      {match("*.a", "/**"), match("a", "/**"), false},
      {match("*.b.a", "/**"), match("*.a", "/**"), false},
      {match("a", "/**"), match("", "/**"), false},
      {match("", "/v1/**"), match("", "/v1/x"), true},
      {match("", "/v1/**"), match("", "/v1/{x}/y"), true},
      {match("", "/v1/**"), match("", "/v1/**"), true},
      {match("", "/v1/**"), match("", "/v1"), false},
      {match("", "/v1/**"), match("", "/v1/"), false},
      {match("", "/v1/{a}"), match("", "/v1/{b}"), true},
      {match("", "/v1/{a}"), match("", "/v1/x"), true},
      {match("", "/v1/x"), match("", "/v1/{a}"), false},
      {match("", "/v1/{a}"), match("", "/v1/**"), false},
      {match("", "/v1/{a}"), match("", "/v1/x/y"), false},
      {match("", "/**", {"GET", "PUT"}), match("", "/**", {"GET"}), true},
      {match("", "/**", {"GET"}), match("", "/**"), false},
      {match("", "/**", {"GET"}), match("", "/**", {"GET", "PUT"}), false},
  };
  for (const Row& row : table)
    EXPECT_EQ(covers(row.earlier, row.later), row.covered)
        << row.earlier.host.text << row.earlier.path.text() << " against " << row.later.host.text
        << row.later.path.text();
}

TEST(Covers, route_coverage_compares_ports_headers_and_query_parameters) {
  policy::Match wide = match("", "/**");
  policy::Match narrow = match("", "/**");
  narrow.port = 80;
  EXPECT_TRUE(covers(wide, narrow));
  EXPECT_FALSE(covers(narrow, wide));
  wide.headers = {{Condition::Kind::header, "x-a", ""}};
  EXPECT_FALSE(covers(wide, narrow));
  narrow.headers = {{Condition::Kind::header, "X-A", "1"}};
  EXPECT_TRUE(covers(wide, narrow));
  wide.query = {{Condition::Kind::query, "q", "1"}};
  narrow.query = {{Condition::Kind::query, "q", ""}};
  EXPECT_FALSE(covers(wide, narrow));
  narrow.query = {{Condition::Kind::query, "q", "1"}};
  EXPECT_TRUE(covers(wide, narrow));
}

}  // namespace
}  // namespace reprise::config::routes_test
