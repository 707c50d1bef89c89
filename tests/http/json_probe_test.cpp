// Tests which JSON bodies have a top-level key that meets a `json` condition (clauses R33c, R35, R36).
#include "proxy/http/body_rules/json_probe.hpp"

#include <gtest/gtest.h>

#include <string>

namespace reprise::http {
namespace {

using std::string;

TEST(JsonProbe, R33_top_level_key_with_a_value_is_found) {
  for (const string text :
       {R"({"etag":"x"})", R"({"a":1,"etag":"CAE="})", R"({"etag":0})", R"({"etag":false})",
        R"({"etag":-1.5})", R"({"etag":[1]})", R"({"etag":{"a":1}})", R"( {"b":{"c":[{}]}, "etag" : "x"} )",
        R"({"et\u0061g":"x"})", R"({"etag":12345678901234567890})"}) {
    EXPECT_TRUE(JsonText(text).has("etag")) << text;
  }
}

TEST(JsonProbe, R35_empty_or_null_value_does_not_count) {
  for (const string text : {R"({"etag":""})", R"({"etag":null})", R"({"etag":[]})", R"({"etag":{}})"}) {
    EXPECT_FALSE(JsonText(text).has("etag")) << text;
  }
}

TEST(JsonProbe, R36_only_top_level_keys_count) {
  for (const string text : {R"({"a":{"etag":"x"}})", R"({"a":[{"etag":"x"}]})", R"([{"etag":"x"}])",
                            R"("etag")", R"({"a":"etag"})", R"({"a":"\"etag\":\"x\""})", R"({"Etag":"x"})",
                            R"({"etagg":"x","eta":"x"})", R"({"":"x"})", "{}", "1"}) {
    EXPECT_FALSE(JsonText(text).has("etag")) << text;
  }
}

TEST(JsonProbe, last_value_of_a_repeated_key_counts) {
  EXPECT_FALSE(JsonText(R"({"etag":"x","etag":""})").has("etag"));
  EXPECT_TRUE(JsonText(R"({"etag":"","etag":"x"})").has("etag"));
  EXPECT_TRUE(JsonText(R"({"etag":"x","a":null,"b":""})").has("etag"));
}

TEST(JsonProbe, malformed_json_has_no_keys) {
  for (const string text :
       {"", " ", R"({"etag":"x")", R"({"etag":"x"} x)", R"({"etag":"x"}{})", R"({etag:"x"})", R"({"etag":-)",
        R"({"etag":-})", R"({"etag":1)", R"({'etag':'x'})", R"({"etag":"x",})", R"(/**/{"etag":"x"})",
        "{\"etag\":\"\x01\"}", "{\"etag\":\"\xff\"}", "\xef\xbb\xbf{\"etag\":\"x\"}", "etag"}) {
    EXPECT_FALSE(JsonText(text).has("etag")) << text;
  }
}

TEST(JsonProbe, json_nesting_depth_is_limited) {
  const auto nested = [](std::size_t depth) {
    return "{\"etag\":\"x\",\"a\":" + string(depth, '[') + string(depth, ']') + "}";
  };
  EXPECT_TRUE(JsonText(nested(50)).has("etag"));
  EXPECT_FALSE(JsonText(nested(100)).has("etag"));
  EXPECT_FALSE(JsonText(string(1000000, '[')).has("etag"));
}

TEST(JsonProbe, long_keys_and_values_are_read) {
  const string key(100000, 'k');
  const string text = "{\"" + key + "\":\"" + string(100000, 'v') + "\",\"etag\":\"x\"}";
  EXPECT_TRUE(JsonText(text).has(key));
  EXPECT_TRUE(JsonText(text).has("etag"));
  EXPECT_FALSE(JsonText(text).has(key + "k"));
}

}  // namespace
}  // namespace reprise::http
