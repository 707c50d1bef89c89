// Tests patterns for methods of gRPC calls, and how a route matches them.
#include "proxy/policy/match/grpc_pattern.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/match/request_match.hpp"

namespace reprise::policy::grpc_pattern_test {
namespace {

TEST(GrpcPattern, malformed_text_is_no_pattern) {
  for (const std::string_view text :
       {"", "/", "a", "a/", "/b", "/a/b", "a/b/c", "a/b/", "a b/c", "a/b?", "a-b/c", "a/b%20", "*a*/b",
        "a/b*c", "**/b", "a/**", "a.*.b/c", "\xc3\xa4/b"})
    EXPECT_FALSE(GrpcPattern::parse(text)) << text;
  for (const std::string_view text : {"a/b", "*/*", "a.b.C/D_1", "*.C/Get*", "a.*/*Item"}) {
    const auto pattern = GrpcPattern::parse(text);
    ASSERT_TRUE(pattern) << text;
    EXPECT_EQ(pattern->text(), text);
  }
}

TEST(GrpcPattern, path_matches_if_both_parts_do) {
  struct Row {
    std::string_view pattern;
    std::string_view path;
    bool matches;
  };
  const std::vector<Row> table{{"shop.Catalog/Get", "/shop.Catalog/Get", true},
                               {"shop.Catalog/Get", "/shop.Catalog/GetItem", false},
                               {"shop.Catalog/Get", "/shop.catalog/Get", false},
                               {"shop.Catalog/Get*", "/shop.Catalog/Get", true},
                               {"shop.Catalog/Get*", "/shop.Catalog/GetItem", true},
                               {"shop.Catalog/Get*", "/shop.Catalog/ForgetItem", false},
                               {"shop.Catalog/*Item", "/shop.Catalog/GetItem", true},
                               {"shop.Catalog/*Item", "/shop.Catalog/GetItems", false},
                               {"shop.*/Get", "/shop.Catalog/Get", true},
                               {"shop.*/Get", "/shop/Get", false},
                               {"*.Health/Check", "/grpc.health.v1.Health/Check", true},
                               {"*.Health/Check", "/Health/Check", false},
                               {"*/*", "/a/b", true},
                               {"*/*", "/a", false},
                               {"*/*", "/a/", false},
                               {"*/*", "//b", false},
                               {"*/*", "/a/b/c", false},
                               {"*/*", "a/b", false},
                               {"*/*", "", false},
                               {"*/*", "/", false}};
  for (const Row& row : table)
    EXPECT_EQ(GrpcPattern::parse(row.pattern)->matches(row.path), row.matches)
        << row.pattern << " " << row.path;
}

TEST(GrpcMatch, route_with_patterns_matches_only_calls_of_one_of_these_methods) {
  Match match;
  match.grpc = {*GrpcPattern::parse("a.B/Get*"), *GrpcPattern::parse("a.B/List*")};
  RequestView request;
  request.method = "POST";
  request.path = "/a.B/ListItems";
  EXPECT_EQ(word(match.first_mismatch(request)), "grpc") << "not a call";
  request.is_call = true;
  EXPECT_TRUE(match.matches(request));
  request.path = "/a.B/PutItem";
  EXPECT_EQ(word(match.first_mismatch(request)), "grpc");
  EXPECT_TRUE(Match{}.matches(request)) << "a route without patterns matches calls too";
}

}  // namespace
}  // namespace reprise::policy::grpc_pattern_test
