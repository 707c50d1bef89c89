// Tests that the configuration text of a running proxy loads to the same settings and contains no secret.
#include "config/reference/running.hpp"

#include <gtest/gtest.h>

#include "config/load.hpp"
#include "config/reference/effective.hpp"

namespace reprise::config::running_test {
namespace {

constexpr const char* file =
    "version: 1\n"
    "parent: http://u:secret@proxy:3128\n"
    "defaults: {tls: {certificate: /c.pem, key: /k.pem, key_passphrase: secret}}\n"
    "presets: [git]\n"
    "routes:\n"
    "  - {name: own, match: {host: a.test}, retry: {max_attempts: 9}}\n";

TEST(Running, running_configuration_text_restores_the_same_routes_and_line_numbers) {
  const Loaded loaded = load_text(file, nullptr);
  ASSERT_TRUE(loaded.settings);
  const std::string text = running_text(*loaded.settings, "/etc/reprise.yaml", "abc");
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
  const RunningText running = read_running(text);
  EXPECT_EQ(running.file, "/etc/reprise.yaml");
  EXPECT_EQ(running.hash, "abc");
  Loaded again = load_text(running.yaml, nullptr);
  ASSERT_TRUE(again.settings);
  place_routes(running, *again.settings);
  ASSERT_EQ(again.settings->routes->size(), loaded.settings->routes->size());
  for (std::size_t i = 0; i < again.settings->routes->size(); ++i) {
    const policy::Route& before = (*loaded.settings->routes)[i];
    const policy::Route& after = (*again.settings->routes)[i];
    EXPECT_EQ(after.name, before.name);
    EXPECT_EQ(after.line, before.line) << before.name;
    EXPECT_EQ(after.source, before.source) << before.name;
    EXPECT_EQ(after.policy.retry.max_attempts, before.policy.retry.max_attempts) << before.name;
  }
}

TEST(Running, built_in_defaults_have_no_file_name) {
  const RunningText running = read_running(running_text(built_in(), "", ""));
  EXPECT_EQ(running.file, "");
  const Loaded again = load_text(running.yaml, nullptr);
  ASSERT_TRUE(again.settings);
  EXPECT_EQ(effective_yaml(*again.settings), effective_yaml(built_in()));
}

TEST(Running, text_that_is_no_running_configuration_is_not_read_as_one) {
  EXPECT_EQ(read_running("").yaml, "");
  EXPECT_EQ(read_running("version: 1\n").yaml, "");
  EXPECT_EQ(read_running("<html>").yaml, "");
}

}  // namespace
}  // namespace reprise::config::running_test
