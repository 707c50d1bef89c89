// Tests the configuration of gRPC calls: `match.grpc`, the statuses in `retry.on`, and time limits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/reach.hpp"
#include "config/reference/effective.hpp"
#include "tests/config/asking.hpp"

namespace reprise::config::grpc_test {
namespace {

using namespace std::chrono_literals;
using policy::GrpcStatus;

// Loads `version: 1` followed by the text. Returns every message, one a line.
std::string said_of(const std::string& text) {
  std::string lines;
  for (const Problem& problem : load_text("version: 1\n" + text, {}).problems)
    lines.append(to_line(problem, "f")).append("\n");
  return lines;
}

std::string said_of_grpc(const std::string& list) {
  return said_of("routes:\n  - {name: r, match: {grpc: " + list + "}}\n");
}

std::string said_of_on(const std::string& item) {
  return said_of("defaults:\n  retry: {on: [" + item + "]}\n");
}

policy::RetryOn retry_on(const std::string& list) {
  return (*settings_of("routes: [{name: r, retry: {on: " + list + "}}]\n").routes)[0].policy.retry.on;
}

TEST(MatchGrpc, route_matches_only_calls_of_the_listed_methods) {
  const Settings settings =
      settings_of("routes: [{name: reads, match: {host: h, grpc: [shop.Catalog/Get*, '*.Health/Check']}}]\n");
  EXPECT_EQ(call("h/shop.Catalog/GetItem").route(settings).name, "reads");
  EXPECT_EQ(call("h/grpc.Health/Check").route(settings).name, "reads");
  EXPECT_EQ(call("h/shop.Catalog/PutItem").route(settings).name, "default");
  EXPECT_EQ(call("other/shop.Catalog/GetItem").route(settings).name, "default");
  EXPECT_EQ(Asked("POST", "h/shop.Catalog/GetItem").route(settings).name, "default") << "not a call";
}

TEST(MatchGrpc, malformed_pattern_is_an_error_that_says_what_to_write) {
  EXPECT_EQ(
      said_of_grpc("[shop.Catalog]"),
      "f:3:30: error: routes[0].match.grpc[0]: \"shop.Catalog\" has no method: write SERVICE/METHOD, or "
      "SERVICE/* for every method (did you mean shop.Catalog/*?)\n");
  EXPECT_EQ(said_of_grpc("[a.B/C, /shop.Catalog/Get]"),
            "f:3:37: error: routes[0].match.grpc[1]: \"/shop.Catalog/Get\" begins with a slash: write "
            "SERVICE/METHOD (did you mean shop.Catalog/Get?)\n");
  EXPECT_EQ(
      said_of_grpc("[shop.Catalog/]"),
      "f:3:30: error: routes[0].match.grpc[0]: \"shop.Catalog/\" has no method: write SERVICE/METHOD, or "
      "SERVICE/* for every method (did you mean shop.Catalog/*?)\n");
  EXPECT_EQ(
      said_of_grpc("[shop.*.Catalog/Get]"),
      "f:3:30: error: routes[0].match.grpc[0]: \"shop.*.Catalog/Get\" has a * in the wrong place: service "
      "and method may each begin or end with one *\n");
  EXPECT_EQ(
      said_of_grpc("[shop-2/Get]"),
      "f:3:30: error: routes[0].match.grpc[0]: \"shop-2/Get\" is not a gRPC method: write SERVICE/METHOD, "
      "such as shop.Catalog/GetItem, of letters, digits, _ and .\n");
  EXPECT_EQ(said_of_grpc("shop.Catalog/Get"),
            "f:3:29: error: routes[0].match.grpc: must be a list of items, each a gRPC method such as "
            "shop.Catalog/Get*: this is \"shop.Catalog/Get\" (did you mean [shop.Catalog/Get]?)\n");
}

TEST(MatchGrpc, route_that_an_earlier_route_covers_causes_a_warning) {
  const auto two = [](const std::string& earlier, const std::string& later) {
    return said_of("routes:\n  - {name: a, match: {" + earlier + "}}\n  - {name: b, match: {" + later +
                   "}}\n");
  };
  const std::string unreachable = "f:4:5: warning: routes[1]: no request can reach this route";
  EXPECT_TRUE(two("grpc: ['*/*']", "grpc: [a.B/C, a.B/Get*]").starts_with(unreachable));
  EXPECT_TRUE(two("grpc: [a.B/Get*]", "host: h, grpc: [a.B/GetItem*]").starts_with(unreachable));
  EXPECT_TRUE(two("host: h", "host: h, grpc: [a.B/C]").starts_with(unreachable));
  EXPECT_EQ(two("grpc: [a.B/Get*]", "grpc: [a.B/Get*, a.B/List*]"), "");
  EXPECT_EQ(two("grpc: [a.B/GetItem]", "grpc: [a.B/Get*]"), "");
  EXPECT_EQ(two("host: h, grpc: ['*/*']", "host: h"), "") << "requests that are not calls reach the second";
}

TEST(RetryOnCalls, M74_words_list_statuses_of_calls) {
  const policy::RetryOn on = retry_on("[503, grpc-unavailable, grpc-resource_exhausted]");
  EXPECT_EQ(on.calls.count(), 2U);
  EXPECT_TRUE(on.calls.test(static_cast<std::size_t>(GrpcStatus::unavailable)));
  EXPECT_TRUE(on.calls.test(static_cast<std::size_t>(GrpcStatus::resource_exhausted)));
  EXPECT_TRUE(retry_on("[503]").calls.none()) << "a list replaces the default";
  for (std::size_t i = 1; i < policy::grpc_status_count; ++i) {
    const std::string word = "grpc-" + std::string(policy::word(static_cast<GrpcStatus>(i)));
    EXPECT_TRUE(retry_on("[" + word + "]").calls.test(i)) << word;
  }
}

TEST(RetryOnCalls, status_ok_is_an_error) {
  EXPECT_EQ(
      said_of_on("503, grpc-ok"),
      "f:3:21: error: defaults.retry.on[1]: \"grpc-ok\" is the status of a call that succeeded, which is not "
      "retried: remove it\n");
}

TEST(RetryOnCalls, another_spelling_gets_a_suggestion) {
  const std::string forms =
      " is not a status: write 503, 500-599 or 5xx, from 200 to 999, or connect, tls, reset, timeout, "
      "truncated "
      "or a gRPC status such as grpc-unavailable";
  for (const auto& [written, meant] : std::vector<std::pair<std::string, std::string>>{
           {"grpc-unavailabel", "grpc-unavailable"},
           {"grpc-UNAVAILABLE", "grpc-unavailable"},
           {"grpc_unavailable", "grpc-unavailable"},
           {"grpc-resource-exhausted", "grpc-resource_exhausted"},
           {"RESOURCE_EXHAUSTED", "grpc-resource_exhausted"},
           {"aborted", "grpc-aborted"},
           {"grpc-14", "grpc-unavailable"},
           {"unavailable", "503, grpc-unavailable"}})
    EXPECT_EQ(said_of_on(written), "f:3:16: error: defaults.retry.on[0]: \"" + written + "\"" + forms +
                                       " (did you mean " + meant + "?)\n");
  EXPECT_EQ(said_of_on("grpc-17"), "f:3:16: error: defaults.retry.on[0]: \"grpc-17\"" + forms + "\n");
}

TEST(RetryOnCalls, words_are_not_valid_in_the_list_of_refusals) {
  const std::string said = said_of("defaults: {retry: {refused: [grpc-unavailable]}}\n");
  EXPECT_NE(said.find("is not a status"), std::string::npos) << said;
}

const policy::CallLimits& limits_of(const Settings& settings) {
  return (*settings.routes)[0].policy.of_calls;
}

TEST(CallTime, M89_time_limits_apply_to_calls_only_if_the_route_itself_has_them) {
  const std::string all = "response_timeout: 5s, idle_timeout: 6s, retry: {attempt_timeout: 7s}";
  for (const std::string& inherited : {"defaults: {" + all + "}\nroutes: [{name: r}]\n",
                                       "policies: {p: {" + all + "}}\nroutes: [{name: r, policy: p}]\n"}) {
    const Settings settings = settings_of(inherited);
    EXPECT_EQ((*settings.routes)[0].policy.response_timeout, 5s);
    EXPECT_FALSE(limits_of(settings).response_timeout) << inherited;
    EXPECT_FALSE(limits_of(settings).idle_timeout) << inherited;
    EXPECT_FALSE(limits_of(settings).attempt_timeout) << inherited;
  }
  const Settings own = settings_of("routes: [{name: r, " + all + "}]\n");
  EXPECT_EQ(limits_of(own).response_timeout, Duration(5s));
  EXPECT_EQ(limits_of(own).idle_timeout, Duration(6s));
  EXPECT_EQ(limits_of(own).attempt_timeout, Duration(7s));
  const Settings none = settings_of("defaults: {" + all + "}\nroutes: [{name: r, response_timeout: none}]\n");
  EXPECT_EQ(limits_of(none).response_timeout, policy::no_limit);
  EXPECT_FALSE(limits_of(none).idle_timeout);
}

TEST(CallTime, M89_entry_of_a_preset_is_a_route_of_its_own) {
  EXPECT_EQ(limits_of(settings_of("presets: [{name: grpc, idle_timeout: 10m}]\n")).idle_timeout,
            Duration(10min));
  EXPECT_FALSE(limits_of(settings_of("defaults: {idle_timeout: 10m}\npresets: [grpc]\n")).idle_timeout);
}

TEST(CallTime, M89_printed_settings_load_to_the_same_time_limits) {
  const std::string text =
      "defaults: {response_timeout: 5s, retry: {attempt_timeout: 7s}}\n"
      "policies: {p: {idle_timeout: 6s}}\n"
      "routes: [{name: calls, match: {grpc: [a.B/C]}, policy: p}, {name: rest, idle_timeout: 8s}]\n";
  const Settings settings = settings_of(text);
  const std::string printed = effective_yaml(settings);
  const Settings again = settings_of(printed.substr(printed.find('\n') + 1));
  EXPECT_EQ(effective_yaml(again), printed);
  for (std::size_t i = 0; i < 2; ++i) {
    const policy::RoutePolicy expected = policy_of_calls((*settings.routes)[i].policy);
    const policy::RoutePolicy calls = policy_of_calls((*again.routes)[i].policy);
    EXPECT_EQ(calls.response_timeout, expected.response_timeout) << i;
    EXPECT_EQ(calls.idle_timeout, expected.idle_timeout) << i;
    EXPECT_EQ(calls.retry.attempt_timeout, expected.retry.attempt_timeout) << i;
    EXPECT_EQ(calls.response_timeout, policy::no_limit) << i;
  }
  EXPECT_EQ((*again.routes)[1].policy.response_timeout, 5s) << "for requests that are not calls";
  EXPECT_NE(printed.find("      grpc: [a.B/C]\n"), std::string::npos) << printed;
}

TEST(CallWarnings, M24_M112_calls_on_a_route_without_http2_cause_a_warning) {
  EXPECT_EQ(said_of("routes:\n  - {name: r, match: {grpc: [a.B/C]}, http2: never}\n"),
            "f:3:46: warning: routes[0].http2: the route \"r\" matches gRPC calls, which need HTTP/2, so all "
            "of them "
            "fail (not_http2): write http2: auto, or always, for that route\n");
  EXPECT_TRUE(said_of("defaults: {http2: never}\nroutes: [{name: r, match: {grpc: [a.B/C]}}]\n")
                  .starts_with("f:2:19: warning: defaults.http2: the route \"r\" matches gRPC calls"));
  EXPECT_TRUE(
      said_of("presets: [{name: grpc, http2: never}]\n").starts_with("f:2:31: warning: presets[0].http2: "));
  EXPECT_EQ(said_of("defaults: {http2: never}\npresets: [grpc]\nroutes: [{name: r, match: {host: h}}]\n"),
            "");
  EXPECT_EQ(said_of("routes: [{name: r, match: {grpc: [a.B/C]}, http2: always}]\n"), "");
}

TEST(CallWarnings, M112_statuses_of_calls_without_a_rule_for_calls_cause_a_warning) {
  const auto said = [](const std::string& rule) {
    return said_of("routes:\n  - {name: r, match: {grpc: [a.B/C]}, retry: {on: [grpc-aborted]}" + rule +
                   "}\n");
  };
  const std::string warning =
      "f:3:51: warning: routes[0].retry.on: grpc-aborted is listed, but no gRPC call is sent again after "
      "it: ";
  for (const std::string rule :
       {"", ", idempotent: never", ", idempotent: {any: [{method: GET}, {method: idempotent}, {json: etag}]}",
        ", idempotent: {all: [{header: X-Key}, {method: PUT}]}"})
    EXPECT_TRUE(said(rule).starts_with(warning)) << rule << said(rule);
  for (const std::string rule :
       {", idempotent: always", ", idempotent: {any: [{method: GET}, {header: X-Key}]}", ", mode: off",
        ", idempotent: {all: [{header: X-Key}, {method: POST}]}"})
    EXPECT_EQ(said(rule), "") << rule;
}

TEST(CallWarnings, M112_statuses_that_the_route_does_not_list_itself_cause_no_warning) {
  EXPECT_EQ(
      said_of("defaults: {retry: {on: [503, grpc-unavailable]}}\nroutes: [{name: r, match: {host: h}}]\n"),
      "");
  EXPECT_EQ(said_of("policies: {p: {retry: {on: [grpc-aborted]}}}\nroutes: [{name: r, policy: p}]\n"), "");
  EXPECT_EQ(said_of("presets: [{name: grpc, retry: {on: [grpc-aborted]}}]\n"), "");
  EXPECT_EQ(
      said_of("routes: [{name: r, retry: {on: [429, 408, 500, 502, 503, 504, connect, tls, reset, timeout, "
              "grpc-unavailable]}}]\n"),
      "");
}

TEST(CallWarnings, M112_response_timeout_of_a_route_for_calls_causes_a_warning) {
  EXPECT_EQ(
      said_of("routes:\n  - {name: r, match: {grpc: [a.B/C]}, response_timeout: 5s}\n"),
      "f:3:57: warning: routes[0].response_timeout: this limit also ends gRPC calls that stream, because "
      "their "
      "head may come only with their first message: remove it, or match only methods that respond at once\n");
  EXPECT_TRUE(said_of("presets: [{name: grpc, response_timeout: 5s}]\n")
                  .starts_with("f:2:42: warning: presets[0].response_timeout: this limit also ends"));
  EXPECT_EQ(said_of("defaults: {response_timeout: 5s}\nroutes: [{name: r, match: {grpc: [a.B/C]}}]\n"), "");
  EXPECT_EQ(said_of("routes: [{name: r, match: {grpc: [a.B/C]}, response_timeout: none}]\n"), "");
  EXPECT_EQ(said_of("routes: [{name: r, match: {host: h}, response_timeout: 5s}]\n"), "");
}

TEST(CallWarnings, rule_always_causes_a_warning_only_if_the_route_matches_a_whole_service) {
  const auto said = [](const std::string& calls) {
    return said_of("routes: [{name: r, match: {grpc: [" + calls + "]}, idempotent: always}]\n");
  };
  EXPECT_NE(said("a.B/Get*, a.B/*").find("this rule applies to every method of a service"),
            std::string::npos);
  EXPECT_EQ(said("a.B/Get*, '*/List*'"), "");
}

}  // namespace
}  // namespace reprise::config::grpc_test
