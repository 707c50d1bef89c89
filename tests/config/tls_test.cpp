// Tests how `tls` is parsed, inherited and printed.
#include <gtest/gtest.h>

#include <string>

#include "config/load.hpp"
#include "config/reference/effective.hpp"

namespace reprise::config::tls_test {
namespace {

using policy::TlsPolicy;

Settings load(const std::string& text) {
  Loaded loaded = load_text("version: 1\n" + text, {});
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << to_line(problem, "f.yaml");
  return loaded.settings ? *loaded.settings : built_in();
}

TlsPolicy first(const std::string& text) { return (*load(text).routes)[0].policy.tls; }
TlsPolicy defaults(const std::string& text) { return first("defaults: {" + text + "}\n"); }

TEST(Tls, tls_is_off_by_default) {
  EXPECT_EQ(defaults(""), TlsPolicy());
  EXPECT_EQ(defaults("tls: off"), TlsPolicy());
  EXPECT_EQ(defaults("tls: {originate: false}"), TlsPolicy());
  EXPECT_FALSE(TlsPolicy().originate);
}

TEST(Tls, tls_setting_is_a_word_or_a_mapping) {
  EXPECT_EQ(defaults("tls: originate"), (TlsPolicy{true, {}, {}, {}}));
  EXPECT_EQ(defaults("tls: {originate: true}"), (TlsPolicy{true, {}, {}, {}}));
  EXPECT_EQ(defaults("tls: {ca_file: /ca.pem}"), (TlsPolicy{false, "/ca.pem", {}, {}}));
  EXPECT_EQ(defaults("tls: {originate: true, ca_file: /ca.pem, certificate: /c.pem, key: /k.pem}"),
            (TlsPolicy{true, "/ca.pem", "/c.pem", "/k.pem"}));
}

TEST(Tls, tls_setting_of_a_route_keeps_the_inherited_files_that_it_does_not_name) {
  const std::string layers = "defaults: {tls: {originate: true, ca_file: /ca.pem}}\nroutes:\n";
  EXPECT_EQ(first(layers + "  - {name: r, tls: off}\n"), (TlsPolicy{false, "/ca.pem", {}, {}}));
  EXPECT_EQ(first(layers + "  - {name: r, tls: {ca_file: system}}\n"), (TlsPolicy{true, {}, {}, {}}));
  const std::string shown = "defaults: {tls: {certificate: /c.pem, key: /k.pem}}\nroutes:\n";
  EXPECT_EQ(first(shown + "  - {name: r, tls: originate}\n"), (TlsPolicy{true, {}, "/c.pem", "/k.pem"}));
  EXPECT_EQ(first(shown + "  - {name: r, tls: {certificate: none, key: none}}\n"), TlsPolicy());
}

TEST(Tls, requests_of_a_preset_can_be_sent_over_tls) {
  const Settings settings = load("presets: [{name: memorystore, hosts: [localhost], tls: originate}]\n");
  EXPECT_TRUE((*settings.routes)[0].policy.tls.originate);
}

TEST(Tls, printed_tls_settings_load_back_unchanged) {
  for (const std::string text :
       {"defaults: {tls: originate}\n", "defaults: {tls: {ca_file: /a b.pem}}\n",
        "defaults: {tls: {originate: true, certificate: /c.pem, key: /k.pem}}\n"
        "listeners: [{mode: gateway, bind: 127.0.0.1:3180, upstream: https://a.internal/base}]\n"}) {
    const Settings settings = load(text);
    const std::string printed = effective_yaml(settings);
    const Loaded again = load_text(printed, {});
    ASSERT_TRUE(again.settings) << printed;
    EXPECT_EQ((*again.settings->routes)[0].policy.tls, (*settings.routes)[0].policy.tls) << printed;
    EXPECT_EQ(again.settings->listeners[0].upstream.https, settings.listeners[0].upstream.https);
    EXPECT_EQ(effective_yaml(*again.settings), printed);
  }
}

}  // namespace
}  // namespace reprise::config::tls_test
