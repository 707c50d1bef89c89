// Tests parsing of `parent:`, and that its password is never printed.
#include "config/keys/parent.hpp"

#include <gtest/gtest.h>

#include "config/load.hpp"
#include "config/reference/effective.hpp"

namespace reprise::config {
namespace {

Parent parsed(std::string_view text) {
  const auto parent = parse_parent(text);
  EXPECT_TRUE(parent) << text << " " << parent.reason;
  return parent ? *parent.value : Parent{};
}

TEST(ParentText, parent_url_is_a_host_and_a_port) {
  const Parent name = parsed("HTTP://Proxy.Internal:3128/");
  EXPECT_EQ(name.host, "proxy.internal");
  EXPECT_EQ(name.port, 3128);
  EXPECT_EQ(name.authorization, "");
  EXPECT_EQ(parent_text(name), "http://proxy.internal:3128");
  EXPECT_EQ(parent_text(parsed("http://[::1]:8080")), "http://[::1]:8080");
  EXPECT_EQ(parsed("http://10.0.0.1:1").host, "10.0.0.1");
}

TEST(ParentText, credentials_become_the_value_of_proxy_authorization) {
  // The first two examples are from RFC 7617, sections 2 and 2.1. The next three are like the examples of RFC
  // 4648, section 10, with 0, 1 and 2 padding characters.
  EXPECT_EQ(parsed("http://Aladdin:open%20sesame@p:1").authorization, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(parsed("http://test:123%C2%A3@p:1").authorization, "Basic dGVzdDoxMjPCow==");
  EXPECT_EQ(parsed("http://fo:oba@p:1").authorization, "Basic Zm86b2Jh");
  EXPECT_EQ(parsed("http://f:oba@p:1").authorization, "Basic ZjpvYmE=");
  EXPECT_EQ(parsed("http://f:ob@p:1").authorization, "Basic ZjpvYg==");
  EXPECT_EQ(parsed("http://user@p:1").authorization, "Basic dXNlcjo=");
  EXPECT_EQ(parsed("http://u:a:b%2fc%25@p:1").authorization, "Basic dTphOmIvYyU=") << "u:a:b/c%";
  EXPECT_EQ(parsed("http://u:at@at@p:1").authorization, "Basic dTphdEBhdA==") << "the last @ ends it";
}

TEST(ParentText, invalid_parent_urls_are_rejected) {
  for (const char* text : {"",
                           "proxy:3128",
                           "http://",
                           "http://proxy",
                           "http://proxy:",
                           "http://proxy:0",
                           "http://proxy:65536",
                           "http://proxy:03128",
                           "http://:3128",
                           "http://proxy:3128/path",
                           "http://proxy:3128?q",
                           "http://a b:1",
                           "http://::1:3128",
                           "http://[::1]",
                           "http://[::1:1",
                           "socks5://proxy:1080",
                           "http://@proxy:1",
                           "http://:password@proxy:1",
                           "http://u%:p@proxy:1",
                           "http://u:%4@proxy:1",
                           "http://u:%zz@proxy:1",
                           "http://u:%0d%0a@proxy:1",
                           "http://u%3Av:p@proxy:1",
                           "http://u:p/w@proxy:1",
                           "http://u:***@proxy:1"})
    EXPECT_FALSE(parse_parent(text)) << text;
  EXPECT_NE(parse_parent("http://proxy").reason.find("has no port"), std::string::npos);
  EXPECT_NE(parse_parent("http://:3128").reason.find("write http://proxy:3128"), std::string::npos);
}

Loaded load_with(const std::string& parent) {
  return load_text("version: 1\nparent: " + parent + "\n", [](std::string_view name) {
    return name == "PARENT" ? std::optional<std::string>("http://joe:5ecret@proxy:3128") : std::nullopt;
  });
}

TEST(Parent, parent_is_absent_by_default_and_if_set_to_the_word_none) {
  EXPECT_FALSE(load_text("version: 1\n", {}).settings->parent);
  EXPECT_FALSE(load_with("none").settings->parent);
  EXPECT_NE(effective_yaml(*load_with("none").settings).find("\nparent: none\n"), std::string::npos);
}

TEST(Parent, tls_parent_may_have_its_own_ca_file) {
  const Loaded plain = load_with("https://proxy:3129");
  ASSERT_TRUE(plain.settings && plain.settings->parent && plain.settings->parent->tls);
  EXPECT_FALSE(plain.settings->parent->tls->ca_file);
  const Loaded loaded = load_with("{url: \"https://joe:5ecret@proxy:3129\", ca_file: /etc/proxy.pem}");
  ASSERT_TRUE(loaded.settings && loaded.settings->parent && loaded.settings->parent->tls);
  EXPECT_EQ(loaded.settings->parent->tls->ca_file, "/etc/proxy.pem");
  EXPECT_EQ(loaded.settings->parent->authorization, "Basic am9lOjVlY3JldA==");
  const std::string effective = effective_yaml(*loaded.settings);
  EXPECT_NE(effective.find("\nparent: {url: \"https://joe:***@proxy:3129\", ca_file: /etc/proxy.pem}\n"),
            std::string::npos)
      << effective;
  EXPECT_FALSE(load_with("{url: \"http://proxy:3128\"}").settings->parent->tls);
  const auto refused = [](const std::string& parent, const char* words) {
    const Loaded bad = load_with(parent);
    ASSERT_FALSE(bad.settings) << parent;
    EXPECT_NE(to_line(bad.problems.front(), "t").find(words), std::string::npos)
        << to_line(bad.problems.front(), "t");
  };
  refused("{ca_file: /etc/proxy.pem}", "parent: has no url");
  refused("{url: \"http://proxy:3128\", ca_file: /etc/proxy.pem}",
          "parent.ca_file: is only for a parent with TLS");
  refused("{url: \"https://proxy:3128\", ca_file: proxy.pem}", "parent.ca_file: ");
  refused("{url: none}", "parent.url: ");
}

TEST(ParentException, parent_exception_is_a_name_or_a_suffix_or_an_address_or_a_network) {
  const auto value = [](std::string_view text) { return parse_exception(text).value.value_or(""); };
  EXPECT_EQ(value("API.Internal."), "api.internal");
  EXPECT_EQ(value("*.Internal"), "*.internal");
  EXPECT_EQ(value("localhost"), "localhost");
  EXPECT_EQ(value("1.example.com"), "1.example.com");
  EXPECT_EQ(value("10.0.0.0/8"), "10.0.0.0/8");
  EXPECT_EQ(value("10.1.2.3"), "10.1.2.3/32");
  EXPECT_EQ(value("[fd00::1]"), "fd00::1/128");
  EXPECT_EQ(value("fd00::/8"), "fd00::/8");
}

TEST(ParentException, invalid_exception_error_suggests_the_nearest_valid_form) {
  const auto proposed = [](std::string_view text) {
    const auto parsed = parse_exception(text);
    EXPECT_FALSE(parsed) << text;
    return parsed.suggestion;
  };
  EXPECT_EQ(proposed(".internal"), "*.internal");
  EXPECT_EQ(proposed("*internal"), "*.internal");
  EXPECT_EQ(proposed("*.internal:8080"), "*.internal");
  EXPECT_EQ(proposed("api.internal:8080"), "api.internal");
  EXPECT_EQ(proposed("https://api.internal:8080/x"), "api.internal");
  EXPECT_EQ(proposed("10.1.2.3/8"), "10.0.0.0/8");
  EXPECT_EQ(proposed("10."), "10.0.0.0/8");
  EXPECT_EQ(proposed("192.168.*.*"), "192.168.0.0/16");
  EXPECT_EQ(proposed("192.168.1"), "192.168.1.0/24");
  for (const char* text :
       {"", "*", ".", "*.", "a b", "a..b", "10.0.0.0/33", "x/8", "1.2.3.4.5", "300.1", "*.*", "a.*.b", "://"})
    EXPECT_EQ(proposed(text), "") << text;
}

TEST(Parent, parent_exceptions_are_loaded_and_printed) {
  const Loaded loaded = load_with("{url: \"http://proxy:3128\", except: [\"*.internal\", 10.0.0.0/8]}");
  ASSERT_TRUE(loaded.settings && loaded.settings->parent);
  EXPECT_EQ(loaded.settings->parent->except, (std::vector<std::string>{"*.internal", "10.0.0.0/8"}));
  const std::string effective = effective_yaml(*loaded.settings);
  EXPECT_NE(effective.find("\nparent: {url: \"http://proxy:3128\", except: [\"*.internal\", 10.0.0.0/8]}\n"),
            std::string::npos)
      << effective;
}

TEST(Parent, parent_can_be_set_by_an_environment_variable) {
  const Loaded loaded = load_with("\"${env:PARENT}\"");
  ASSERT_TRUE(loaded.settings && loaded.settings->parent);
  EXPECT_EQ(loaded.settings->parent->host, "proxy");
  EXPECT_EQ(loaded.settings->parent->authorization, "Basic am9lOjVlY3JldA==");
}

TEST(Parent, H9_password_appears_neither_in_messages_nor_in_printed_settings) {
  const Loaded loaded = load_with("http://joe:5ecret@proxy:3128");
  ASSERT_TRUE(loaded.settings);
  const std::string effective = effective_yaml(*loaded.settings);
  EXPECT_NE(effective.find("\nparent: \"http://joe:***@proxy:3128\"\n"), std::string::npos) << effective;
  EXPECT_EQ(effective.find("5ecret"), std::string::npos);
  EXPECT_EQ(effective.find("am9l"), std::string::npos);
  EXPECT_FALSE(load_text(effective, {}).settings) << "what was printed is not what was meant";
  for (const std::string parent :
       {"http://joe:5ecret@proxy", "http://joe:5ecret@proxy:99999", "joe:5ecret@proxy:3128",
        "http://joe:5ecret%@proxy:3128", "http://joe:5ecret/@proxy:3128", "5ecret",
        "https://joe:5ecret@proxy", "[http://joe:5ecret@proxy:3128]", "{joe: 5ecret}",
        "\"http://joe:5ecret\\u0001@proxy:1\""}) {
    const Loaded refused = load_with(parent);
    EXPECT_FALSE(refused.settings) << parent;
    EXPECT_FALSE(refused.problems.empty()) << parent;
    for (const Problem& problem : refused.problems) {
      EXPECT_EQ(to_line(problem, "t.yaml").find("5ecret"), std::string::npos) << to_line(problem, "t.yaml");
      EXPECT_NE(to_line(problem, "t.yaml").find("parent"), std::string::npos) << to_line(problem, "t.yaml");
    }
  }
}

}  // namespace
}  // namespace reprise::config
