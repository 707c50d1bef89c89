// Tests idempotency conditions: which requests meet a condition, and which only seem to meet it (clauses R31
// to R41).
#include "proxy/policy/match/condition.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "proxy/policy/match/methods.hpp"
#include "tests/policy/request_lines.hpp"

namespace reprise::policy {
namespace {

using Kind = IdempotencyRule::Kind;

Condition query(std::string name, std::string value = {}) {
  return {Condition::Kind::query, std::move(name), std::move(value)};
}
Condition header(std::string name, std::string value = {}) {
  return {Condition::Kind::header, std::move(name), std::move(value)};
}
Condition json(std::string key) { return {Condition::Kind::json, std::move(key), {}}; }
Condition method(std::string token) { return {Condition::Kind::method, std::move(token), {}}; }

IdempotencyRule any(std::vector<Condition> conditions) { return {Kind::any, std::move(conditions)}; }
IdempotencyRule all(std::vector<Condition> conditions) { return {Kind::all, std::move(conditions)}; }

struct Keys final : JsonBody {
  explicit Keys(std::vector<std::string> there) : keys(std::move(there)) {}
  bool has(std::string_view key) const override {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }
  std::vector<std::string> keys;
};

Idempotency with_query(const IdempotencyRule& rule, std::string_view raw) {
  RequestView request;
  request.method = "PATCH";
  request.query = raw;
  return judge(rule, request, nullptr);
}

TEST(Method, idempotent_methods_are_recognized) {
  for (const auto* name : {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PROPFIND", "REPORT", "SEARCH",
                           "QUERY", "MKCOL", "COPY", "MOVE", "PROPPATCH", "VERSION-CONTROL"})
    EXPECT_TRUE(is_idempotent_method(name)) << name;
  for (const auto* name : {"POST", "PATCH", "CONNECT", "LOCK", "get", "Put", "", "GETS", "GE"}) {
    EXPECT_FALSE(is_idempotent_method(name)) << name;
  }
}

TEST(Method, safe_methods_are_recognized) {
  for (const auto* name : {"GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "SEARCH"})
    EXPECT_TRUE(is_safe_method(name)) << name;
  for (const auto* name : {"PUT", "DELETE", "POST", "MKCOL", "LOCK", "get", ""})
    EXPECT_FALSE(is_safe_method(name)) << name;
}

TEST(Query, query_parameter_matches_only_its_exact_name) {
  EXPECT_TRUE(query_has("ifGenerationMatch=7", "ifGenerationMatch", ""));
  EXPECT_TRUE(query_has("a=1&ifGenerationMatch=0&b=2", "ifGenerationMatch", ""));
  EXPECT_FALSE(query_has("ifMetagenerationMatch=7", "ifGenerationMatch", ""));
  EXPECT_FALSE(query_has("ifSourceGenerationMatch=7", "ifGenerationMatch", ""));
  EXPECT_FALSE(query_has("ifGenerationNotMatch=7", "ifGenerationMatch", ""));
  EXPECT_FALSE(query_has("xifGenerationMatch=7", "ifGenerationMatch", ""));
  EXPECT_FALSE(query_has("ifGenerationMatchx=7", "ifGenerationMatch", ""));
  EXPECT_FALSE(query_has("ifgenerationmatch=7", "ifGenerationMatch", "")) << "query names have a case";
  EXPECT_FALSE(query_has("a=ifGenerationMatch=7", "ifGenerationMatch", ""));
  EXPECT_FALSE(query_has("", "ifGenerationMatch", ""));
  EXPECT_FALSE(query_has("&&=&", "ifGenerationMatch", ""));
}

TEST(Query, query_parameter_without_a_value_is_not_a_condition) {
  EXPECT_FALSE(query_has("ifGenerationMatch=", "ifGenerationMatch", ""));
  EXPECT_FALSE(query_has("ifGenerationMatch", "ifGenerationMatch", ""));
  EXPECT_FALSE(query_has("ifGenerationMatch=&a=1", "ifGenerationMatch", ""));
  EXPECT_TRUE(query_has("ifGenerationMatch=&ifGenerationMatch=3", "ifGenerationMatch", ""));
}

TEST(Query, query_parameter_value_is_compared_as_a_whole_and_undecoded) {
  EXPECT_TRUE(query_has("uploadType=resumable", "uploadType", "resumable"));
  EXPECT_TRUE(query_has("uploadType=media&uploadType=resumable", "uploadType", "resumable"));
  EXPECT_FALSE(query_has("uploadType=resumable2", "uploadType", "resumable"));
  EXPECT_FALSE(query_has("uploadType=", "uploadType", "resumable"));
  EXPECT_FALSE(query_has("uploadType", "uploadType", "resumable"));
  EXPECT_TRUE(query_has("k=a=b", "k", "a=b"));
  EXPECT_FALSE(query_has("k=%61", "k", "a")) << "compared as sent";
}

TEST(Rule, rules_of_kind_always_and_never_and_by_method_give_the_expected_verdict) {
  const RequestView patch{"PATCH", "h", 80, "/", "", nullptr};
  const RequestView put{"PUT", "h", 80, "/", "", nullptr};
  EXPECT_EQ(judge({Kind::always, {}}, patch, nullptr), Idempotency::yes);
  EXPECT_EQ(judge({Kind::never, {}}, put, nullptr), Idempotency::no);
  EXPECT_EQ(judge({Kind::by_method, {}}, put, nullptr), Idempotency::yes);
  EXPECT_EQ(judge({Kind::by_method, {}}, patch, nullptr), Idempotency::no);
  EXPECT_EQ(judge(IdempotencyRule{}, put, nullptr), Idempotency::yes) << "by_method is the default";
}

TEST(Rule, R34_only_the_named_precondition_makes_a_request_idempotent) {
  const IdempotencyRule rule = any({query("ifMetagenerationMatch")});
  EXPECT_EQ(with_query(rule, "ifMetagenerationMatch=3"), Idempotency::yes);
  EXPECT_EQ(with_query(rule, "ifMetagenerationMatch=0"), Idempotency::yes);
  EXPECT_EQ(with_query(rule, "ifGenerationMatch=3"), Idempotency::no);
  EXPECT_EQ(with_query(rule, "ifMetagenerationNotMatch=3"), Idempotency::no);
  EXPECT_EQ(with_query(rule, "ifSourceMetagenerationMatch=3"), Idempotency::no);
  EXPECT_EQ(with_query(rule, "ifMetagenerationMatch="), Idempotency::no);
}

TEST(Rule, header_condition_may_require_a_value) {
  Lines lines{{{"If-Match", " \"abc\" "}, {"X-Empty", ""}, {"X-Mode", "safe"}}};
  const RequestView request{"PATCH", "h", 80, "/", "", &lines};
  EXPECT_EQ(judge(any({header("if-match")}), request, nullptr), Idempotency::yes);
  EXPECT_EQ(judge(any({header("X-Empty")}), request, nullptr), Idempotency::no);
  EXPECT_EQ(judge(any({header("X-Missing")}), request, nullptr), Idempotency::no);
  EXPECT_EQ(judge(any({header("X-Mode", "safe")}), request, nullptr), Idempotency::yes);
  EXPECT_EQ(judge(any({header("X-Mode", "fast")}), request, nullptr), Idempotency::no);
  const RequestView bare{"PATCH", "h", 80, "/", "", nullptr};
  EXPECT_EQ(judge(any({header("If-Match")}), bare, nullptr), Idempotency::no);
}

TEST(Rule, method_condition_matches_the_exact_method) {
  const RequestView request{"PATCH", "h", 80, "/", "", nullptr};
  EXPECT_EQ(judge(any({method("PATCH")}), request, nullptr), Idempotency::yes);
  EXPECT_EQ(judge(any({method("patch")}), request, nullptr), Idempotency::no);
}

TEST(Rule, method_condition_idempotent_matches_every_idempotent_method) {
  const IdempotencyRule rule{IdempotencyRule::Kind::any,
                             {header("Idempotency-Key"), method(std::string(idempotent_method))}};
  RequestView request;
  for (const std::string_view name : {"GET", "PUT", "PROPFIND"}) {
    request.method = name;
    EXPECT_EQ(judge(rule, request, nullptr), Idempotency::yes) << name;
  }
  request.changes_protocol = true;
  EXPECT_EQ(judge(rule, request, nullptr), Idempotency::no) << "what the new protocol does is not known";
  request.changes_protocol = false;
  request.method = "POST";
  EXPECT_EQ(judge(rule, request, nullptr), Idempotency::no);
  EXPECT_TRUE(rule.asks_method());
  EXPECT_TRUE(IdempotencyRule{}.asks_method());
  EXPECT_FALSE((IdempotencyRule{IdempotencyRule::Kind::any, {method("PUT")}}).asks_method());
}

TEST(Rule, R36_json_key_condition_is_undecided_until_the_body_is_held) {
  const RequestView request{"PUT", "h", 80, "/", "a=1", nullptr};
  const Keys with({"etag"});
  const Keys without({"name"});
  const IdempotencyRule rule = any({json("etag")});
  EXPECT_EQ(judge(rule, request, nullptr), Idempotency::undecided);
  EXPECT_EQ(judge(rule, request, &with), Idempotency::yes);
  EXPECT_EQ(judge(rule, request, &without), Idempotency::no);
}

TEST(Rule, rule_any_is_decided_by_one_condition_that_matches) {
  const RequestView request{"PUT", "h", 80, "/", "a=1", nullptr};
  const Keys body({"etag"});
  EXPECT_EQ(judge(any({json("etag"), query("a")}), request, nullptr), Idempotency::yes);
  EXPECT_EQ(judge(any({query("b"), json("etag")}), request, nullptr), Idempotency::undecided);
  EXPECT_EQ(judge(any({query("b"), json("etag")}), request, &body), Idempotency::yes);
  EXPECT_EQ(judge(any({query("b"), query("c")}), request, nullptr), Idempotency::no);
  EXPECT_EQ(judge(any({}), request, nullptr), Idempotency::no);
}

TEST(Rule, rule_all_is_decided_by_one_condition_that_does_not_match) {
  const RequestView request{"PUT", "h", 80, "/", "a=1&b=2", nullptr};
  const Keys body({"etag"});
  EXPECT_EQ(judge(all({query("a"), query("b")}), request, nullptr), Idempotency::yes);
  EXPECT_EQ(judge(all({query("a"), query("c")}), request, nullptr), Idempotency::no);
  EXPECT_EQ(judge(all({json("etag"), query("c")}), request, nullptr), Idempotency::no);
  EXPECT_EQ(judge(all({json("etag"), query("a")}), request, nullptr), Idempotency::undecided);
  EXPECT_EQ(judge(all({json("etag"), query("a")}), request, &body), Idempotency::yes);
  EXPECT_EQ(judge(all({json("name"), query("a")}), request, &body), Idempotency::no);
}

TEST(Rule, rule_without_conditions_makes_nothing_idempotent) {
  const RequestView request{"POST", "h", 80, "/", "", nullptr};
  EXPECT_EQ(judge(all({}), request, nullptr), Idempotency::no);
  EXPECT_EQ(judge(any({}), request, nullptr), Idempotency::no);
}

TEST(Rule, verdict_on_idempotency_names_the_condition_that_decided) {
  const RequestView request{"PUT", "h", 80, "/", "a=1", nullptr};
  const Keys body({"name"});
  const auto ground = [&](const IdempotencyRule& rule, const JsonBody* held) -> std::string {
    const Judgement judgement = judge_with_condition(rule, request, held);
    EXPECT_EQ(judgement.verdict, judge(rule, request, held));
    return judgement.because == nullptr ? "" : describe(*judgement.because);
  };
  EXPECT_EQ(ground(any({query("b"), query("a"), method("PUT")}), nullptr), "query: a")
      << "the first that holds";
  EXPECT_EQ(ground(any({query("b"), query("c")}), nullptr), "") << "all had a say";
  EXPECT_EQ(ground(any({query("b"), json("etag"), json("id")}), nullptr), "json: etag");
  EXPECT_EQ(ground(any({query("b"), json("etag")}), &body), "");
  EXPECT_EQ(ground({Kind::all, {query("a"), method("POST"), query("b")}}, nullptr), "method: POST");
  EXPECT_EQ(ground({Kind::all, {query("a"), json("etag")}}, nullptr), "json: etag");
  EXPECT_EQ(ground({Kind::all, {query("a"), json("etag")}}, &body), "json: etag");
  EXPECT_EQ(ground({Kind::all, {query("a"), method("PUT")}}, nullptr), "");
  EXPECT_EQ(ground({Kind::by_method, {}}, nullptr), "");
}

TEST(Rule, description_of_a_rule_lists_its_conditions_as_in_the_configuration) {
  EXPECT_EQ(describe(header("If-Match")), "header: If-Match");
  EXPECT_EQ(describe(query("uploadType", "resumable")), "query: uploadType=resumable");
  EXPECT_EQ(describe(json("etag")), "json: etag");
  EXPECT_EQ(describe(method("PUT")), "method: PUT");
  EXPECT_EQ(describe(IdempotencyRule{Kind::always, {}}), "always");
  EXPECT_EQ(describe(IdempotencyRule{}), "by_method");
  EXPECT_EQ(describe(any({header("If-Match"), json("etag")})), "any of [header: If-Match, json: etag]");
  EXPECT_EQ(describe(all({query("a")})), "all of [query: a]");
}

}  // namespace
}  // namespace reprise::policy
