// Tests the suggestions for keys and values that are written in the style of other programs.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "config/keys/synonym_table.hpp"
#include "config/keys/synonyms.hpp"
#include "config/load.hpp"
#include "config/reference/effective.hpp"
#include "tests/config/golden.hpp"

namespace reprise::config::meant_test {
namespace {

std::string said_of(const std::string& text) {
  const Loaded loaded = load_text("version: 1\n" + text + "\n", nullptr);
  std::string lines;
  for (const Problem& problem : loaded.problems) lines.append(to_line(problem, "f")).append("\n");
  return lines;
}

struct Wrong {
  std::string text;
  std::string meant;
};

TEST(Meant, error_suggests_the_value_that_was_probably_meant) {
  const std::vector<Wrong> wrongs{
      {"intercept: [a.test]", "{hosts: [a.test]}"},
      {"routes: [{name: a, match: {host: [a.test, b.test]}}]", "hosts: [a.test, b.test]"},
      {"routes: [{name: a, match: {host: .a.test}}]", "*.a.test"},
      {"routes: [{name: a, match: {host: \"https://a.test/v1\"}}]", "a.test"},
      {"routes: [{name: a, match: {path: \"^/v1/.*$\"}}]", "/v1/**"},
      {"routes: [{name: a, match: {path: \"/v1/*\"}}]", "/v1/**"},
      {"routes: [{name: a, match: {path: \"~ ^/v1(/.*)?$\"}}]", "/v1/**"},
      {"routes: [{name: a, match: {path: v1}}]", "/v1"},
      {"routes: [{name: a, match: {path: [/a, /b]}}]", "a route for each path"},
      {"routes: [{name: a, match: {methods: post}}]", "[POST]"},
      {"routes: [{name: a, match: a.test}]", "{host: a.test}"},
      {"routes: [{name: a, match: /v1}]", "{path: /v1}"},
      {"routes: {name: a}", "a list: write - before its first key"},
      {"defaults: {retry: 5}", "{max_attempts: 5}"},
      {"defaults: {retry: off}", "{max_attempts: 1}"},
      {"defaults: {retry: 30s}", "{deadline: 30s}"},
      {"defaults: {retry: [503, connect-failure]}", "{on: [503, connect]}"},
      {"defaults: {hedge: 100ms}", "{after: 100ms}"},
      {"defaults: {hedge: true}", "{after: p95}"},
      {"defaults: {retry: {backoff: exponential}}", "{multiplier: 2}"},
      {"defaults: {retry: {backoff: 1s}}", "{initial: 1s}"},
      {"defaults: {retry: {retry_after: false}}", "{honour: false}"},
      {"defaults: {retry: {on: \"5xx,connect-failure\"}}", "[5xx, connect]"},
      {"defaults: {retry: {on: [http_502]}}", "502"},
      {"defaults: {retry: {on: [empty-response]}}", "reset"},
      {"defaults: {retry: {max_attempts: infinite}}", "unlimited"},
      {"defaults: {retry: {max_attempts: 0}}", "1"},
      {"defaults: {retry: {deadline: 0}}", "unlimited"},
      {"defaults: {retry: {deadline: 30 seconds}}", "30s"},
      {"defaults: {retry: {deadline: PT5M}}", "5m"},
      {"defaults: {retry: {deadline: 1 day}}", "24h"},
      {"defaults: {retry: {attempt_timeout: off}}", "none"},
      {"defaults: {budget: 20%}", "{ratio: 20%}"},
      {"defaults: {budget: {floor: 10rps}}", "10/s"},
      {"defaults: {circuit: 30s}", "{open: 30s}"},
      {"defaults: {replay: 1MiB}", "{memory: 1MiB}"},
      {"defaults: {hold: 16KiB}", "{bytes: 16KiB}"},
      {"defaults: {tls: true}", "originate"},
      {"defaults: {mode: dry-run}", "observe"},
      {"defaults: {idempotent: [POST]}", "{any: [{method: POST}]}"},
      {"defaults: {idempotent: Idempotency-Key}", "{any: [{header: Idempotency-Key}]}"},
      {"defaults: {idempotent: {any: [by_method]}}", "{method: idempotent}"},
      {"log: debug", "{level: debug}"},
      {"log: {level: warning}", "warn"},
      {"admin: 3129", "{bind: 127.0.0.1:3129}"},
      {"admin: {bind: \":3129\"}", "127.0.0.1:3129"},
      {"listeners: 127.0.0.1:3128", "[{bind: 127.0.0.1:3128}]"},
      {"listeners: [127.0.0.1:3128]", "{bind: 127.0.0.1:3128}"},
      {"listeners: [{bind: 127.0.0.1:1, mode: reverse-proxy}]", "gateway"},
      {"presets: gcs", "[gcs]"},
      {"presets: [s3]", "aws"},
      {"parent: proxy:3128", "http://proxy:3128"},
      {"trace: http://127.0.0.1:4318", "{otlp: http://127.0.0.1:4318}"},
      {"shutdown: 30s", "{grace: 30s}"},
      {"defaults: {retry_policy: {}}", "retry?"},
      {"clusters: []", "routes? requests go to the host"},
      {"defaults: {outlier_detection: {}}", "circuit?"},
      {"mode: observe", "defaults.mode?"},
      {"admin: {port: 1}", "bind?"},
  };
  for (const Wrong& wrong : wrongs) {
    const std::string said = said_of(wrong.text);
    EXPECT_NE(said.find("(did you mean " + wrong.meant), std::string::npos) << wrong.text << "\n" << said;
  }
}

TEST(Meant, every_value_synonym_belongs_to_an_existing_key_and_is_unique) {
  for (const ValueSynonym& known : value_synonym_table) {
    const Key* const key = find_key(known.path);
    ASSERT_NE(key, nullptr) << known.path;
    for (const std::string_view text : split_words(known.texts))
      EXPECT_EQ(meant_value(*key, text), known.meant) << known.path << ": " << text << " is there twice";
  }
}

TEST(Meant, star_is_rejected_as_a_list_of_hosts_or_methods) {
  EXPECT_NE(said_of("intercept: {hosts: [\"*\"], ca: {certificate: /a, key: /b}}")
                .find("only listed hosts are intercepted"),
            std::string::npos);
  EXPECT_NE(said_of("routes: [{name: a, match: {methods: [\"*\"]}}]")
                .find("remove `methods` to match every method"),
            std::string::npos);
}

TEST(Meant, suggestion_never_contains_a_secret) {
  EXPECT_EQ(said_of("parent: \"u:secret@proxy:3128\"").find("secret"), std::string::npos);
  const Loaded loaded =
      load_text("version: 1\nlog: \"${env:X}\"\n", [](std::string_view name) -> std::optional<std::string> {
        return name == "X" ? std::optional<std::string>("debug") : std::nullopt;
      });
  ASSERT_FALSE(loaded.problems.empty());
  EXPECT_EQ(loaded.problems.front().message.find("debug"), std::string::npos);
}

TEST(Meant, error_stays_short_when_the_wrong_value_is_long) {
  const std::string much(3000, 'a');
  for (const std::string& text :
       {"routes: [{name: r, match: {path: " + much + "}}]",
        "routes: [{name: r, match: {path: /" + much + "/}}]",
        "defaults: {idempotent: {any: {" + much + ": X}}}", "defaults: {retry: [503, " + much + "]}",
        "routes: [{name: r, match: {host: \"https://" + much + "/\"}}]"}) {
    const std::string said = said_of(text);
    EXPECT_FALSE(said.empty());
    EXPECT_LT(said.size(), 600U) << said;
  }
}

/// Returns the text as PyYAML and other YAML 1.1 tools rewrite it: `on` as `true`, `off` as `false`.
std::string by_yaml_1_1(std::string text) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"    on:", "    true:"},
                                 {"{on:", "{true:"},
                                 {": off\n", ": false\n"},
                                 {": off ", ": false "},
                                 {": off}", ": false}"},
                                 {": off,", ": false,"}}) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  }
  return text;
}

TEST(Yaml11, shipped_files_load_the_same_after_a_yaml_1_1_tool_has_rewritten_them) {
  for (const char* const name :
       {"config/reprise.yaml", "config/examples/gateway.yaml", "config/examples/legacy-daemon.yaml",
        "config/examples/orders.yaml", "config/examples/sidecar.yaml"}) {
    const std::string text = golden::read(golden::in_source(name));
    const Loaded plain = load_text(text, nullptr);
    const Loaded rewritten = load_text(by_yaml_1_1(text), nullptr);
    ASSERT_TRUE(plain.settings && rewritten.settings) << name;
    EXPECT_EQ(effective_yaml(*plain.settings), effective_yaml(*rewritten.settings)) << name;
  }
}

TEST(Yaml11, key_true_is_read_as_on_and_value_false_is_read_as_off_where_off_is_allowed) {
  EXPECT_EQ(said_of("defaults: {retry: {true: [503]}, budget: false, hedge: false, mode: false}"), "");
  EXPECT_EQ(said_of("admin: false\npolicies: {p: {circuit: false, retry: {true: [503]}}}"), "");
  const Loaded loaded = load_text("version: 1\ndefaults: {via: false, retry: {true: [503]}}\n", nullptr);
  ASSERT_TRUE(loaded.settings);
  EXPECT_EQ((*loaded.settings->routes)[0].policy.retry.on.statuses.count(), 1U);
  EXPECT_NE(said_of("defaults: {retry: {on: [503], true: [503]}}").find("unknown key \"true\""),
            std::string::npos);
}

}  // namespace
}  // namespace reprise::config::meant_test
