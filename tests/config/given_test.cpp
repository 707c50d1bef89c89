// Tests flags and environment variables that are given in addition to a file: their precedence, and the
// messages about mistakes in them.
#include "config/given.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "config/keys/keys.hpp"
#include "config/load.hpp"

namespace reprise::config::given_test {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Loaded load(const std::string& text, const Flags& flags, const Variables& variables = {}) {
  return load_text(
      "version: 1\n" + text,
      [&](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      },
      flags);
}

std::string said_of(const Loaded& loaded) {
  std::string lines;
  for (const Problem& problem : loaded.problems) lines.append(to_line(problem, "f")).append("\n");
  return lines;
}

unsigned attempts_of(const Loaded& loaded, std::size_t route = 0) {
  EXPECT_TRUE(loaded.settings) << said_of(loaded);
  return loaded.settings ? (*loaded.settings->routes)[route].policy.retry.max_attempts.value_or(0) : 0;
}

TEST(Given, every_flag_for_a_key_names_an_existing_key_and_has_a_unique_variable) {
  std::set<std::string> names;
  for (const Shortcut& shortcut : shortcut_table) {
    EXPECT_NE(find_key(shortcut.path), nullptr) << shortcut.path;
    EXPECT_TRUE(names.insert(variable_of(shortcut)).second) << shortcut.flag;
    EXPECT_EQ(find_shortcut(shortcut.flag), &shortcut);
  }
  EXPECT_EQ(variable_of(*find_shortcut("idempotency-header")), "REPRISE_IDEMPOTENCY_HEADER");
  EXPECT_EQ(find_shortcut("zzz"), nullptr);
}

TEST(Given, file_overrides_variable_and_flag_overrides_both) {
  const std::string file = "defaults: {retry: {max_attempts: 4}}\n";
  EXPECT_EQ(attempts_of(load("", {}, {{"REPRISE_MAX_ATTEMPTS", "7"}})), 7U);
  EXPECT_EQ(attempts_of(load(file, {}, {{"REPRISE_MAX_ATTEMPTS", "7"}})), 4U);
  EXPECT_EQ(attempts_of(load(file, {{"max-attempts", "2"}}, {{"REPRISE_MAX_ATTEMPTS", "7"}})), 2U);
  EXPECT_EQ(attempts_of(load(file, {}, {{"REPRISE_MAX_ATTEMPTS", ""}})), 4U) << "an empty variable is none";
}

TEST(Given, flag_overrides_routes_and_presets_but_variable_does_not) {
  const std::string file =
      "routes: [{name: r, match: {host: h}, retry: {max_attempts: 9}}]\npresets: [git]\n";
  EXPECT_EQ(attempts_of(load(file, {}, {{"REPRISE_MAX_ATTEMPTS", "3"}})), 9U);
  for (std::size_t route = 0; route < 4; ++route)
    EXPECT_EQ(attempts_of(load(file, {{"max-attempts", "3"}}), route), 3U) << route;
}

TEST(Given, idempotency_header_flag_does_not_override_the_rule_set_by_a_route) {
  const Loaded loaded = load("routes: [{name: r, match: {host: h}, idempotent: never}]\n",
                             {{"idempotency-header", "Idempotency-Key, X-Key"}});
  ASSERT_TRUE(loaded.settings) << said_of(loaded);
  using policy::IdempotencyRule;
  EXPECT_EQ((*loaded.settings->routes)[0].policy.idempotent.kind, IdempotencyRule::Kind::never);
  EXPECT_EQ(policy::describe((*loaded.settings->routes)[1].policy.idempotent),
            "any of [header: Idempotency-Key, header: X-Key, method: idempotent]");
}

TEST(Given, flags_accept_ports_and_lists_and_urls_and_paths_and_durations_and_words) {
  const Loaded loaded = load("admin: off\n", {{"admin", "4129"},
                                              {"retry-on", "5xx, connect"},
                                              {"parent", "proxy:3128"},
                                              {"control", "/run/c.sock"},
                                              {"attempt-timeout", "5s"},
                                              {"log-format", "text"}});
  ASSERT_TRUE(loaded.settings) << said_of(loaded);
  EXPECT_EQ(loaded.settings->admin.bind.port, 4129);
  EXPECT_EQ(loaded.settings->admin.control, "/run/c.sock");
  EXPECT_EQ(loaded.settings->parent->host, "proxy");
  EXPECT_EQ(loaded.settings->log.format, LogFormat::text);
  const policy::RetryPolicy& retry = (*loaded.settings->routes)[0].policy.retry;
  EXPECT_TRUE(retry.on.connect && !retry.on.reset && retry.on.statuses.test(599));
  EXPECT_EQ(retry.attempt_timeout, std::chrono::seconds(5));
}

TEST(Given, admin_off_in_the_file_is_overridden_by_a_flag_but_not_by_a_variable) {
  EXPECT_TRUE(load("admin: off\n", {}, {{"REPRISE_ADMIN", "4129"}}).settings->admin.bind.is_off());
  EXPECT_TRUE(load("", {{"admin", "off"}}).settings->admin.bind.is_off());
  EXPECT_FALSE(load("admin: off\n", {{"admin", "4129"}}).settings->admin.bind.is_off());
}

TEST(Given, error_in_a_flag_or_variable_names_that_flag_or_variable) {
  EXPECT_EQ(
      said_of(load("", {{"max-attempts", "0"}})),
      "reprise: error: --max-attempts: \"0\" is out of range: write a whole number, from 1 to 1000000, or "
      "unlimited (did you mean 1?)\n");
  EXPECT_EQ(
      said_of(load("", {}, {{"REPRISE_LOG_LEVEL", "warning"}})),
      "reprise: error: REPRISE_LOG_LEVEL: \"warning\" is not a known word: write error, warn, info or debug "
      "(did you mean warn?)\n");
  EXPECT_EQ(said_of(load("", {{"retry-on", "503,zzz"}})).substr(0, 37),
            "reprise: error: --retry-on: \"zzz\" is ");
  EXPECT_EQ(said_of(load("", {{"idempotency-header", "a b"}})).substr(0, 36),
            "reprise: error: --idempotency-header");
}

TEST(Given, password_never_appears_in_messages) {
  const Loaded wrong = load("", {{"parent", "ftp://u:secret@x:1"}});
  EXPECT_FALSE(wrong.settings);
  EXPECT_EQ(said_of(wrong).find("secret"), std::string::npos) << said_of(wrong);
  const Loaded right = load("", {}, {{"REPRISE_PARENT", "http://u:secret@x:1"}});
  ASSERT_EQ(right.given.size(), 1U);
  EXPECT_EQ(right.given.front().text, "***");
}

TEST(Given, flag_that_contradicts_the_file_is_named_in_the_error) {
  const std::string file = "defaults: {retry: {backoff: {initial: 10s, maximum: 10s}}}\n";
  EXPECT_EQ(said_of(load(file, {{"deadline", "1s"}})).substr(0, 30), "reprise: error: --deadline: th");
  EXPECT_EQ(said_of(load("", {{"admin", "127.0.0.1:3128"}})).substr(0, 24), "reprise: error: --admin:");
  EXPECT_EQ(said_of(load("", {{"max-attempts", "unlimited"}, {"deadline", "unlimited"}})).substr(0, 31),
            "reprise: error: --max-attempts:");
}

TEST(Given, deadline_can_be_set_by_two_variables_that_must_agree) {
  const auto deadline = [](const Variables& variables) { return load("", {}, variables); };
  const Loaded one = deadline({{"REPRISE_RETRY_DEADLINE", "5s"}});
  ASSERT_TRUE(one.settings) << said_of(one);
  EXPECT_EQ((*one.settings->routes)[0].policy.retry.deadline, std::chrono::seconds(5));
  EXPECT_EQ(one.given.front().source, "REPRISE_RETRY_DEADLINE");
  EXPECT_EQ(
      said_of(deadline({{"REPRISE_RETRY_DEADLINE", "5s"}, {"REPRISE_DEADLINE", "6s"}})),
      "reprise: error: REPRISE_RETRY_DEADLINE: differs from REPRISE_DEADLINE: set only one of the two\n");
  EXPECT_TRUE(deadline({{"REPRISE_RETRY_DEADLINE", "5s"}, {"REPRISE_DEADLINE", "5s"}}).settings);
}

TEST(Given, flags_and_variables_are_listed_with_a_note_whether_they_took_effect) {
  const Loaded loaded = load("log: {level: warn}\n", {{"deadline", "9s"}},
                             {{"REPRISE_LOG_LEVEL", "debug"}, {"REPRISE_DEADLINE", "8s"}});
  ASSERT_EQ(loaded.given.size(), 3U);
  EXPECT_EQ(loaded.given[0].source, "REPRISE_DEADLINE");
  EXPECT_FALSE(loaded.given[0].used) << "the flag hides it";
  EXPECT_TRUE(loaded.given[1].used);
  EXPECT_FALSE(loaded.given[2].used) << "the file hides it";
}

}  // namespace
}  // namespace reprise::config::given_test
