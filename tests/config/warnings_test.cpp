// Tests warnings: each warning names a place in the file and suggests a fix.
#include <gtest/gtest.h>

#include <set>

#include "config/clear_text.hpp"
#include "config/keys/keys.hpp"
#include "config/keys/renamed_keys.hpp"
#include "config/presets/presets.hpp"
#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/pacing/dice.hpp"
#include "tests/config/asking.hpp"

namespace reprise::config {
namespace {

/// Loads `version: 1` followed by the text, and returns every message, one a line. Errors fail the test.
std::string said_of(const std::string& text) {
  const Loaded loaded = load_text("version: 1\n" + text, {});
  EXPECT_TRUE(loaded.settings) << text;
  std::string lines;
  for (const Problem& problem : loaded.problems) lines.append(to_line(problem, "f")).append("\n");
  return lines;
}

bool says(const std::string& text, std::initializer_list<std::string_view> words) {
  const std::string said = said_of(text);
  for (const std::string_view word : words) {
    if (said.find(word) == std::string::npos) return ADD_FAILURE() << word << "\n" << said, false;
  }
  return true;
}

TEST(Warnings, D5_replay_limit_of_one_request_above_the_total_limit_causes_a_warning) {
  EXPECT_TRUE(says("limits: {replay_memory: 1MiB}\ndefaults: {replay: {memory: 2MiB}}\n",
                   {"f:3:29: warning: defaults.replay.memory: replay.memory of one request is 2MiB, and "
                    "limits.replay_memory of all requests is 1MiB"}));
  EXPECT_TRUE(says("routes: [{name: r, match: {host: h}, replay: {disk: 2GiB}}]\n",
                   {"warning: routes[0].replay.disk: ", "limits.replay_disk of all requests is 1GiB"}));
  EXPECT_TRUE(says("limits: {replay_disk: 8MiB}\n", {"f:2:23: warning: limits.replay_disk: "}));
  EXPECT_EQ(said_of("limits: {replay_disk: 0, replay_memory: 256KiB}\n"), "") << "none on disk is meant";
  EXPECT_EQ(said_of("limits: {replay_memory: 1MiB}\ndefaults: {replay: {memory: 1MiB}}\n"), "");
  EXPECT_EQ(said_of("routes: [{name: r, match: {host: h}, mode: off, replay: {disk: 2GiB}}]\n"), "");
}

TEST(Warnings, L8_timeout_listed_in_retry_on_causes_a_warning_if_no_timer_can_cause_a_timeout) {
  EXPECT_TRUE(says("defaults:\n  retry: {on: [503, timeout]}\n",
                   {"f:3:15: warning: defaults.retry.on: timeout is listed", "write an attempt_timeout"}));
  EXPECT_TRUE(says("routes:\n  - {name: r, match: {host: h}, retry: {on: [timeout], deadline: 5m}}\n",
                   {"f:3:45: warning: routes[0].retry.on: "}));
  EXPECT_TRUE(
      says("policies: {p: {retry: {on: [timeout]}}}\nroutes: [{name: r, match: {host: h}, policy: p}]\n",
           {"warning: policies.p.retry.on: "}));
  EXPECT_TRUE(says("presets: [{name: gcs-metadata, retry: {attempt_timeout: none}}]\n",
                   {"f:2:57: warning: presets[0].retry.attempt_timeout: "}));
  EXPECT_TRUE(says("presets: [{name: llm, retry: {on: [429, timeout]}, response_timeout: 5m}]\n",
                   {"presets[0].retry.on"}));
}

TEST(Warnings, L8_timeout_in_retry_on_causes_no_warning_if_it_can_occur_or_is_not_listed_explicitly) {
  EXPECT_EQ(said_of("defaults: {retry: {on: [503, timeout], attempt_timeout: 10s}}\n"), "");
  EXPECT_EQ(said_of("defaults: {response_timeout: 59s, retry: {on: [503, timeout]}}\n"), "");
  EXPECT_EQ(said_of("defaults: {retry: {on: [503, timeout], deadline: unlimited}}\n"), "");
  EXPECT_EQ(said_of("defaults: {mode: off, retry: {on: [503, timeout]}}\n"), "");
  EXPECT_EQ(said_of("defaults: {retry: {on: [503]}}\n"), "");
  EXPECT_EQ(said_of("defaults: {retry: {deadline: 30s}}\n"), "") << "the list is the built-in one";
  EXPECT_EQ(
      said_of("defaults: {retry: {on: [429, 408, 500, 502, 503, 504, connect, tls, reset, timeout]}}\n"), "");
}

TEST(Warnings, L14_deny_list_without_an_entry_of_the_default_list_causes_a_warning) {
  EXPECT_TRUE(
      says("security:\n  deny: [10.0.0.0/8]\n",
           {"f:3:9: warning: security.deny: ", "169.254.0.0/16 (cloud metadata", "100.100.100.200/32 (cloud",
            "192.0.0.192/32 (cloud", "fe80::/10 (IPv6 link-local addresses)",
            "fd00:ec2::254/128 (cloud metadata over IPv6)", "self (the proxy's own listeners)"}));
  EXPECT_TRUE(says("security: {deny: []}\n", {"169.254.0.0/16", "self"}));
  const std::string narrow = said_of("security: {deny: [169.254.169.254, 'fe80::/9', 'fd00::/8', self]}\n");
  EXPECT_NE(narrow.find("169.254.0.0/16"), std::string::npos) << "the rest of it is open";
  EXPECT_EQ(narrow.find("fe80"), std::string::npos) << narrow;
  EXPECT_EQ(narrow.find("self"), std::string::npos) << narrow;
  EXPECT_EQ(said_of("security: {deny: [0.0.0.0/0, '::/0', self]}\n"), "");
  EXPECT_EQ(said_of("security: {deny: [10.0.0.0/8, 169.254.0.0/16, 100.100.100.200, 192.0.0.192, "
                    "'fe80::/10', 'fd00:ec2::254', self]}\n"),
            "");
  EXPECT_EQ(said_of("security: {connect_ports: [443]}\n"), "") << "the default list";
}

TEST(Warnings, L26_preset_whose_service_is_reached_without_tls_causes_a_warning) {
  EXPECT_TRUE(says("presets:\n  - {name: aws, tls: off}\n",
                   {"f:3:22: warning: presets[0].tls: this service uses TLS", "clear text"}));
  EXPECT_TRUE(says("presets: [{name: gcs, tls: {originate: false}}]\n", {"presets[0].tls: "}));
  EXPECT_TRUE(says("presets: [{name: gcs, hosts: [store.example, localhost]}]\n",
                   {"warning: presets[0].hosts: requests to these hosts are sent in clear text",
                    "tls: originate, or tls: off"}));
  for (const std::string quiet :
       {"hosts: [127.0.0.1, localhost, '::1', x.localhost]", "hosts: [store.example], tls: originate",
        "hosts: [emulator], tls: off", "hosts: [storage.googleapis.com]"})
    EXPECT_EQ(said_of("presets: [{name: gcs, " + quiet + "}]\n"), "");
  EXPECT_EQ(said_of("policies: {p: {tls: off}}\npresets: [{name: gcs, hosts: [e], policy: p}]\n"), "");
  for (const std::string_view name : preset_names())
    EXPECT_EQ(said_of("presets: [" + std::string(name) + "]\n"), "") << name;
}

TEST(Warnings, L26_custom_route_that_reaches_a_tls_service_in_clear_text_causes_a_warning) {
  EXPECT_TRUE(says("routes:\n  - {name: r, match: {host: api.openai.com}}\n",
                   {"f:3:5: warning: routes[0]: requests to http://api.openai.com are sent in clear text"}));
  EXPECT_TRUE(says("routes: [{name: r, match: {hosts: [h, pail.s3.amazonaws.com]}, tls: off}]\n",
                   {"routes[0].tls: "}));
  EXPECT_EQ(said_of("routes: [{name: r, match: {host: api.openai.com}, tls: originate}]\n"), "");
  EXPECT_EQ(said_of("routes: [{name: r, match: {host: api.openai.com, port: 8080}}]\n"), "");
  EXPECT_EQ(said_of("routes: [{name: r, match: {host: api.internal}}, {name: all, match: {}}]\n"), "");
}

TEST(ClearText, L26_presets_use_tls_for_their_services_but_not_for_custom_hosts) {
  for (const char* host : {"storage.googleapis.com", "pail.storage.googleapis.com", "www.googleapis.com",
                           "redis.googleapis.com", "bigtable.googleapis.com", "api.openai.com",
                           "api.anthropic.com", "sqs.eu-west-1.amazonaws.com", "*.amazonaws.com"})
    EXPECT_TRUE(is_reached_over_tls(host)) << host;
  EXPECT_FALSE(is_reached_over_tls("api.internal"));
  for (const std::string_view name : preset_names()) {
    // These presets are for the user's own servers, so they do not turn on TLS (`tls: originate`).
    if (name == "consul" || name == "vault" || name == "health" || name == "grpc") continue;
    const Settings own = settings_of("presets: [" + std::string(name) + "]\n");
    const Settings moved = settings_of("presets: [{name: " + std::string(name) + ", hosts: [e, '*.e']}]\n");
    for (std::size_t i = 0; i + 1 < own.routes->size(); ++i)
      EXPECT_TRUE((*own.routes)[i].policy.tls.originate) << (*own.routes)[i].name;
    for (std::size_t i = 0; i + 1 < moved.routes->size(); ++i)
      EXPECT_FALSE((*moved.routes)[i].policy.tls.originate) << (*moved.routes)[i].name;
  }
  const Settings same =
      settings_of("presets: [{name: gcs, hosts: [storage.googleapis.com, '*.storage.googleapis.com']}]\n");
  EXPECT_TRUE((*same.routes)[0].policy.tls.originate);
}

struct Hung {
  std::string preset;
  std::string policy;  ///< replaces the preset's policy; empty if the preset's own applies
  Asked request;
  Duration waits;
  policy::Reason reason = policy::Reason::retryable_failure;
};

// A preset whose retry.on does not list `timeout` does not retry a hung upstream. A comment in the file of
// the preset says why.
TEST(HungUpstream, L8_each_preset_has_the_documented_timeout_and_retry_for_a_hung_upstream) {
  using namespace std::chrono_literals;
  const Asked read_object("GET", "storage.googleapis.com/storage/v1/b/p/o/x");
  const Asked read_bucket("GET", "pail.s3.eu-west-1.amazonaws.com/key");
  Asked fetch("POST", "github.com/a/b.git/git-upload-pack");
  fetch.with("header:Content-Type", "application/x-git-upload-pack-request");
  const std::vector<Hung> all{
      {"aws", "", read_bucket, 60s},
      {"aws", "aws-2026", read_bucket, 60s},
      {"aws", "aws-2026-dynamodb", read_bucket, 60s},
      {"gcs", "", read_object, 60s},
      {"gcs-metadata", "", read_object, 60s},
      {"gcs-metadata", "", {"GET", "storage.googleapis.com/storage/v1/b/p/o/x?alt=media"}, 60s},
      {"git", "", fetch, policy::no_limit, policy::Reason::not_retryable},
      {"gsutil", "", read_object, 60s},
      {"gsutil", "gcloud", read_object, 5min},
      {"llm", "", {"POST", "api.openai.com/v1/responses"}, 10min, policy::Reason::not_retryable},
      {"memorystore", "", {"GET", "redis.googleapis.com/v1/projects/p"}, 10min},
      {"oci", "", {"GET", "ghcr.io/v2/a/manifests/1"}, policy::no_limit, policy::Reason::not_retryable},
      {"consul", "", {"GET", "localhost/v1/kv/a?wait=5m"}, policy::no_limit, policy::Reason::not_retryable},
      {"vault", "", {"GET", "vault/v1/secret/data/a"}, policy::no_limit, policy::Reason::not_retryable},
      {"health", "", {"GET", "any.host/readyz"}, policy::no_limit, policy::Reason::not_retryable},
      {"grpc", "", call("any.host/grpc.health.v1.Health/Check"), policy::no_limit,
       policy::Reason::not_retryable},
      {"google-grpc", "", call("spanner.googleapis.com/google.spanner.v1.Spanner/GetSession"),
       policy::no_limit, policy::Reason::not_retryable}};
  std::set<std::string_view> tried;
  for (const Hung& one : all) {
    tried.insert(one.preset);
    const std::string policy = one.policy.empty() ? "" : ", policy: " + one.policy;
    const Settings settings = settings_of("presets: [{name: " + one.preset + policy + "}]\n");
    const policy::RoutePolicy& route = one.request.route(settings).policy;
    const policy::Instant head_at{};
    std::optional<policy::Instant> deadline;
    if (route.retry.deadline) deadline = head_at + *route.retry.deadline;
    const policy::HeadLimit limit =
        policy::head_limit(route, one.request.repeatable(settings), head_at, deadline);
    // Preset llm repeats a request only after a response that refuses it. A hung upstream sends no response.
    EXPECT_EQ(one.request.repeatable(settings), one.preset != "llm") << one.preset;
    EXPECT_EQ(limit.at - head_at, one.waits) << one.preset;
    policy::Attempt attempt;
    attempt.sent = policy::Sent::maybe;
    policy::SeededDice dice(1);
    const policy::Verdict verdict = policy::decide({policy::Idempotency::yes, false, true}, attempt,
                                                   policy::Failed{policy::Stage::await_head, limit.cause},
                                                   route, limit.at, deadline, dice, 1e9);
    EXPECT_EQ(verdict.retry, is_retry(one.reason)) << one.preset;
    EXPECT_EQ(verdict.reason, one.reason) << one.preset;
  }
  const std::vector<std::string_view> names = preset_names();
  EXPECT_EQ(tried, std::set(names.begin(), names.end())) << "each preset has a row here";
}

TEST(RenamedKeys, old_name_is_read_and_causes_a_warning) {
  const Loaded loaded = load_text("version: 1\nlimits: {kept_answer: 1KiB}\n", {});
  ASSERT_TRUE(loaded.settings);
  EXPECT_EQ(loaded.settings->limits.kept_response_bytes, 1024U);
  EXPECT_EQ(
      said_of("limits: {kept_answer: 1KiB}\n"),
      "f:2:10: warning: limits.kept_answer: is now called kept_response: the next release will not accept "
      "the old name\n");
}

TEST(RenamedKeys, old_and_new_name_together_are_an_error) {
  const Loaded loaded = load_text("version: 1\nlimits: {kept_answer: 1KiB, kept_response: 2KiB}\n", {});
  EXPECT_FALSE(loaded.settings);
  ASSERT_EQ(loaded.problems.size(), 1U);
  EXPECT_EQ(to_line(loaded.problems[0], "f"),
            "f:2:10: error: limits.kept_answer: is the old name of kept_response: write only one of the two");
}

TEST(RenamedKeys, every_new_name_is_a_key_and_no_old_name_is_a_key) {
  for (const RenamedKey& key : renamed_keys) {
    EXPECT_NE(find_key(key.path), nullptr) << key.path;
    EXPECT_EQ(find_key(key.old_path), nullptr) << key.old_path;
  }
}

}  // namespace
}  // namespace reprise::config
