// Tests how the proxy variables of the environment become a parent proxy with exceptions.
#include "config/keys/proxy_variables.hpp"

#include <gtest/gtest.h>

#include <map>

#include "config/keys/parent.hpp"

namespace reprise::config {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;
using Texts = std::vector<std::string>;

NamedParent named(const Variables& variables) {
  return parent_of_variables([&variables](std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

std::string url_of(const Variables& variables) {
  const NamedParent found = named(variables);
  EXPECT_EQ(found.problem, "");
  return found.parent ? parent_text(*found.parent) : "";
}

TEST(ProxyVariables, proxy_variables_are_read_in_lower_and_upper_case) {
  EXPECT_EQ(url_of({}), "");
  EXPECT_EQ(url_of({{"http_proxy", ""}, {"HTTPS_PROXY", ""}}), "");
  EXPECT_EQ(url_of({{"http_proxy", "http://proxy:3128"}}), "http://proxy:3128");
  EXPECT_EQ(url_of({{"HTTPS_PROXY", "https://proxy:3129/"}}), "https://proxy:3129");
  EXPECT_EQ(url_of({{"http_proxy", "proxy:3128"},
                    {"HTTP_PROXY", "http://PROXY:3128/"},
                    {"https_proxy", "http://proxy:3128"}}),
            "http://proxy:3128");
}

TEST(ProxyVariables, proxy_url_may_omit_scheme_and_port) {
  EXPECT_EQ(url_of({{"http_proxy", "proxy:3128"}}), "http://proxy:3128");
  EXPECT_EQ(url_of({{"http_proxy", "joe:5ecret@proxy:3128"}}), "http://joe:***@proxy:3128");
  EXPECT_EQ(url_of({{"http_proxy", "http://joe:5ecret@proxy"}}), "http://joe:***@proxy:80");
  EXPECT_EQ(url_of({{"http_proxy", "proxy"}}), "http://proxy:80");
  EXPECT_EQ(url_of({{"http_proxy", "HTTPS://proxy/"}}), "https://proxy:443");
  EXPECT_EQ(url_of({{"http_proxy", "http://[::1]"}}), "http://[::1]:80");
}

TEST(ProxyVariables, star_in_no_proxy_means_no_parent) {
  EXPECT_FALSE(named({{"http_proxy", "http://proxy:3128"}, {"no_proxy", "*"}}).parent);
  EXPECT_FALSE(named({{"http_proxy", "socks5://proxy:1080"}, {"NO_PROXY", "*"}}).parent);
  EXPECT_EQ(named({{"http_proxy", "socks5://proxy:1080"}, {"NO_PROXY", "*"}}).problem, "");
}

TEST(ProxyVariables, no_proxy_entries_become_parent_exceptions) {
  const NamedParent found =
      named({{"http_proxy", "proxy:1"}, {"no_proxy", "a.test, .b.test"}, {"NO_PROXY", ".b.test,10.0.0.0/8"}});
  ASSERT_TRUE(found.parent);
  EXPECT_EQ(found.parent->except, (Texts{"a.test", "*.a.test", "b.test", "*.b.test", "10.0.0.0/8"}));
}

TEST(ProxyVariables, no_proxy_entries_are_interpreted_as_curl_and_python_do) {
  EXPECT_EQ(exceptions_of("A.test"), (Texts{"a.test", "*.a.test"}));
  EXPECT_EQ(exceptions_of("*.a.test"), Texts{"*.a.test"});
  EXPECT_EQ(exceptions_of("10.0.0.1 [fd00::1],fd00::2"),
            (Texts{"10.0.0.1/32", "fd00::1/128", "fd00::2/128"}));
  EXPECT_EQ(exceptions_of("10.1.2.3/8"), Texts{"10.0.0.0/8"});
  EXPECT_EQ(exceptions_of(" , ,localhost,,"), (Texts{"localhost", "*.localhost"}));
  EXPECT_EQ(exceptions_of("a.test:8080,10.*,<local>,..,*,.*.a,http://a.test/"), Texts{});
}

TEST(ProxyVariables, socks_proxy_is_rejected_as_a_parent) {
  for (const char* value : {"socks5://proxy:1080", "SOCKS5h://proxy:1080", "socks4a://proxy:1080"}) {
    const NamedParent found = named({{"https_proxy", value}});
    EXPECT_FALSE(found.parent);
    EXPECT_EQ(found.problem,
              "https_proxy names a SOCKS proxy: write an HTTP proxy in the key parent of a configuration "
              "file (-c FILE), use --parent URL, or unset the variable");
  }
  EXPECT_EQ(url_of({{"http_proxy", "socks.test:3128"}}), "http://socks.test:3128") << "a name";
}

TEST(ProxyVariables, two_different_proxy_variables_are_an_error) {
  for (const char* other :
       {"http://proxy:3129", "https://proxy:3128", "http://other:3128", "u:p@proxy:3128"}) {
    const NamedParent found = named({{"http_proxy", "http://proxy:3128"}, {"HTTPS_PROXY", other}});
    EXPECT_FALSE(found.parent) << other;
    EXPECT_TRUE(found.problem.starts_with(
        "http_proxy and HTTPS_PROXY name different proxies: write one of them in the key parent of"))
        << found.problem;
  }
}

TEST(ProxyVariables, H9_error_for_an_invalid_proxy_url_names_the_variable_but_not_its_value) {
  for (const char* value :
       {"http://", "://5ecret", "http://5ecret:99999", "ftp://5ecret:21", "5ecret proxy:1",
        "http://u:5ecret%@proxy:1", "http://proxy:1/5ecret", "http://u:5ecret/x@proxy:1"}) {
    const NamedParent found = named({{"HTTP_PROXY", value}});
    EXPECT_FALSE(found.parent) << value;
    EXPECT_TRUE(found.problem.starts_with("HTTP_PROXY ")) << found.problem;
    EXPECT_EQ(found.problem.find("5ecret"), std::string::npos) << found.problem;
  }
}

}  // namespace
}  // namespace reprise::config
