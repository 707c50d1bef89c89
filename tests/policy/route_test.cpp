// Tests routes: path and host patterns, and the order in which they are checked.
#include "proxy/policy/decision/route.hpp"

#include <gtest/gtest.h>

#include "tests/policy/request_lines.hpp"

namespace reprise::policy {
namespace {

bool path_matches(std::string_view pattern, std::string_view path) {
  const auto parsed = PathPattern::parse(pattern);
  EXPECT_TRUE(parsed) << pattern;
  return parsed && parsed->matches(path);
}

TEST(PathPattern, literal_path_matches_exactly) {
  EXPECT_TRUE(path_matches("/", "/"));
  EXPECT_FALSE(path_matches("/", "/a"));
  EXPECT_TRUE(path_matches("/v1/orders", "/v1/orders"));
  EXPECT_FALSE(path_matches("/v1/orders", "/v1/orders/"));
  EXPECT_FALSE(path_matches("/v1/orders", "/v1/order"));
  EXPECT_FALSE(path_matches("/v1/orders", "/v1/ordersx"));
  EXPECT_FALSE(path_matches("/v1/orders", "/V1/orders"));
  EXPECT_FALSE(path_matches("/v1/orders", "/v1"));
  EXPECT_FALSE(path_matches("/v1/orders", ""));
  EXPECT_FALSE(path_matches("/v1/orders", "v1/orders"));
  EXPECT_TRUE(path_matches("/v1/", "/v1/"));
  EXPECT_FALSE(path_matches("/v1/", "/v1"));
}

TEST(PathPattern, braces_match_one_nonempty_segment) {
  EXPECT_TRUE(path_matches("/b/{bucket}/o", "/b/photos/o"));
  EXPECT_TRUE(path_matches("/b/{bucket}/o/{object}", "/b/photos/o/a%2Fb"));
  EXPECT_FALSE(path_matches("/b/{bucket}/o/{object}", "/b/photos/o/a/b"));
  EXPECT_FALSE(path_matches("/b/{bucket}/o", "/b//o"));
  EXPECT_FALSE(path_matches("/b/{bucket}", "/b/"));
  EXPECT_FALSE(path_matches("/b/{bucket}", "/b"));
  EXPECT_FALSE(path_matches("/b/{bucket}/o", "/b/photos/acl"));
}

TEST(PathPattern, two_stars_match_the_rest_of_the_path) {
  for (const auto* path : {"/", "/a", "/a/b", "//", "", "*"}) EXPECT_TRUE(path_matches("/**", path)) << path;
  EXPECT_TRUE(path_matches("/v1/**", "/v1/a"));
  EXPECT_TRUE(path_matches("/v1/**", "/v1/a/b/c/"));
  EXPECT_FALSE(path_matches("/v1/**", "/v1"));
  EXPECT_FALSE(path_matches("/v1/**", "/v1/"));
  EXPECT_FALSE(path_matches("/v1/**", "/v1//a")) << "the first of the rest is not empty";
  EXPECT_FALSE(path_matches("/v1/**", "/v12/a"));
  EXPECT_TRUE(path_matches("/{bucket}/**", "/photos/2024/a.jpg"));
  EXPECT_FALSE(path_matches("/{bucket}/**", "/photos"));
}

TEST(PathPattern, malformed_patterns_are_rejected) {
  for (const auto* text :
       {"", "v1", "**", "/**/a", "/a**", "/a*", "/*", "/{}", "/{a", "/a}", "/x{a}", "/{a}x", "/**/**"}) {
    EXPECT_FALSE(PathPattern::parse(text)) << text;
  }
  EXPECT_EQ(PathPattern::parse("/v1/{x}/**")->text(), "/v1/{x}/**");
  EXPECT_EQ(PathPattern().text(), "/**");
  EXPECT_TRUE(PathPattern().matches("/whatever"));
}

TEST(HostPattern, host_pattern_matches_a_name_or_its_subdomains) {
  EXPECT_TRUE(HostPattern{""}.matches("any.example"));
  EXPECT_TRUE(HostPattern{"api.example.com"}.matches("API.example.COM"));
  EXPECT_TRUE(HostPattern{"api.example.com"}.matches("api.example.com."));
  EXPECT_FALSE(HostPattern{"api.example.com"}.matches("xapi.example.com"));
  EXPECT_FALSE(HostPattern{"api.example.com"}.matches("api.example.com.evil.test"));
  EXPECT_TRUE(HostPattern{"*.example.com"}.matches("a.Example.com"));
  EXPECT_TRUE(HostPattern{"*.example.com"}.matches("a.b.example.com"));
  EXPECT_FALSE(HostPattern{"*.example.com"}.matches("example.com"));
  EXPECT_FALSE(HostPattern{"*.example.com"}.matches(".example.com"));
  EXPECT_FALSE(HostPattern{"*.example.com"}.matches("badexample.com"));
}

TEST(Match, request_matches_only_if_it_meets_every_part_of_the_match) {
  Match match;
  match.host.text = "api.example.com";
  match.port = 8080;
  match.path = *PathPattern::parse("/v1/**");
  match.methods = {"GET", "POST"};
  match.query = {{Condition::Kind::query, "alt", "media"}, {Condition::Kind::query, "acl", ""}};
  match.headers = {{Condition::Kind::header, "X-Kind", "upload"}};
  const Lines lines{{{"x-kind", "upload"}}};
  const Lines others{{{"x-kind", "download"}}};
  const RequestView good{"GET", "api.example.com", 8080, "/v1/x", "acl&alt=media", &lines};
  EXPECT_TRUE(match.matches(good));
  const auto refused = [&](auto change) {
    RequestView request = good;
    change(request);
    return !match.matches(request);
  };
  EXPECT_TRUE(refused([](RequestView& r) { r.method = "PUT"; }));
  EXPECT_TRUE(refused([](RequestView& r) { r.method = "get"; }));
  EXPECT_TRUE(refused([](RequestView& r) { r.host = "example.com"; }));
  EXPECT_TRUE(refused([](RequestView& r) { r.port = 80; }));
  EXPECT_TRUE(refused([](RequestView& r) { r.path = "/v2/x"; }));
  EXPECT_TRUE(refused([](RequestView& r) { r.query = "alt=media"; }));
  EXPECT_TRUE(refused([](RequestView& r) { r.query = "acl&alt=json"; }));
  EXPECT_TRUE(refused([](RequestView& r) { r.query = "xacl&alt=media"; }));
  EXPECT_TRUE(refused([](RequestView& r) { r.fields = nullptr; }));
  EXPECT_TRUE(refused([&](RequestView& r) { r.fields = &others; }));
  EXPECT_FALSE(refused([](RequestView& r) { r.query = "alt=media&acl="; })) << "present, even with no value";
}

TEST(Match, first_part_of_a_match_that_the_request_does_not_meet_is_named) {
  Match match;
  match.host.text = "api.example.com";
  match.port = 8080;
  match.path = *PathPattern::parse("/v1/**");
  match.methods = {"GET"};
  match.query = {{Condition::Kind::query, "alt", "media"}};
  match.headers = {{Condition::Kind::header, "X-Kind", "upload"}};
  const Lines lines{{{"x-kind", "upload"}}};
  // Fixes the mismatches one by one, in the order in which they are checked.
  RequestView request{"PUT", "example.com", 80, "/", "", nullptr};
  const auto is = [&](std::string_view wanted) { return word(match.first_mismatch(request)) == wanted; };
  EXPECT_TRUE(is("host"));
  request.host = "api.example.com";
  EXPECT_TRUE(is("port"));
  request.port = 8080;
  EXPECT_TRUE(is("method"));
  request.method = "GET";
  EXPECT_TRUE(is("path"));
  request.path = "/v1/x";
  EXPECT_TRUE(is("query"));
  request.query = "alt=media";
  EXPECT_TRUE(is("header"));
  EXPECT_FALSE(match.matches(request));
  request.fields = &lines;
  EXPECT_TRUE(is("none"));
  EXPECT_TRUE(match.matches(request));
}

TEST(Match, request_must_match_both_the_host_and_one_entry_of_the_list_of_hosts) {
  const auto matches = [](const Match& match, std::string_view host) {
    return match.matches(RequestView{"GET", host, 80, "/", "", nullptr});
  };
  Match match;
  match.hosts = {{"a.example"}, {"*.b.example"}};
  EXPECT_TRUE(matches(match, "a.example"));
  EXPECT_TRUE(matches(match, "x.b.example"));
  EXPECT_FALSE(matches(match, "c.example"));
  match.host.text = "*.b.example";
  EXPECT_TRUE(matches(match, "x.b.example"));
  EXPECT_FALSE(matches(match, "a.example")) << "both must hold";
}

TEST(Match, match_without_any_part_accepts_every_request) {
  EXPECT_TRUE(Match().matches(RequestView{"BREW", "pot", 1, "/tea", "", nullptr}));
}

TEST(Match, name_star_in_a_query_condition_matches_any_parameter_without_a_value) {
  Match match;
  match.query = {{Condition::Kind::query, "*", ""}};
  const auto matches = [&](std::string_view query) {
    return match.matches(RequestView{"PUT", "h", 80, "/", query, nullptr});
  };
  for (const char* query : {"acl", "acl=", "a=1&acl", "acl&a=1", "*"}) EXPECT_TRUE(matches(query)) << query;
  for (const char* query : {"", "a=1", "a=1&b=2", "&", "=", "=1", "a==", "*=1"})
    EXPECT_FALSE(matches(query)) << query;
}

TEST(Match, query_condition_with_exclusions_matches_any_parameter_with_another_name) {
  Match match;
  match.query = {{Condition::Kind::query, "!a,x-*", ""}};
  const auto matches = [&](std::string_view query) {
    return match.matches(RequestView{"PUT", "h", 80, "/", query, nullptr});
  };
  for (const char* query :
       {"acl", "a", "a=", "x-y", "b=1", "a=1&b=1", "b=1&a=1", "A=1", "ab=1", "x=1", "%61=1"})
    EXPECT_TRUE(matches(query)) << query;
  for (const char* query : {"", "&", "a=1", "x-=1", "x-y=1&a=2", "=1"}) EXPECT_FALSE(matches(query)) << query;
}

Route route(std::string name, std::string_view path) {
  Route made;
  made.name = std::move(name);
  made.match.path = *PathPattern::parse(path);
  return made;
}

TEST(RouteTable, first_matching_route_wins) {
  const RouteTable table(
      {route("narrow", "/v1/orders"), route("wide", "/v1/**"), route("never", "/v1/orders")},
      route("default", "/nothing"));
  const auto name_of = [&](std::string_view path) {
    return table[table.find(RequestView{"GET", "h", 80, path, "", nullptr})].name;
  };
  EXPECT_EQ(table.size(), 4U);
  EXPECT_EQ(name_of("/v1/orders"), "narrow");
  EXPECT_EQ(name_of("/v1/other"), "wide");
  EXPECT_EQ(name_of("/elsewhere"), "default");
  EXPECT_EQ(table.find(RequestView{"GET", "h", 80, "/", "", nullptr}), 3U);
}

// Upper case and a trailing dot do not make a different host.
TEST(RouteTable, host_case_and_trailing_dot_do_not_affect_the_route) {
  Route own = route("own", "/**");
  own.match.host.text = "api.example";
  Route any = route("any", "/**");
  any.match.host.text = "*.example";
  const RouteTable table({own, any}, route("default", "/**"));
  const auto name_of = [&](std::string_view host) {
    return table[table.find(RequestView{"GET", host, 80, "/", "", nullptr})].name;
  };
  EXPECT_EQ(name_of("api.example"), "own");
  EXPECT_EQ(name_of("API.example."), "own");
  EXPECT_EQ(name_of("www.example."), "any");
  EXPECT_EQ(name_of("example."), "default");
}

TEST(RouteTable, empty_table_has_only_the_fallback_route) {
  const RouteTable table({}, route("default", "/**"));
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.find(RequestView{}), 0U);
}

}  // namespace
}  // namespace reprise::policy
