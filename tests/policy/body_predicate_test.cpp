// Tests which responses are retried because of their head or body although `retry.on` does not list their
// status.
#include "proxy/policy/match/body_predicate.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace reprise::policy {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

bool has(const Values& values, std::string_view path, const TextRule& rule) {
  const auto found = values.find(path);
  return found != values.end() && rule.holds(found->second);
}

/// A body with a given event name, and given texts at JSON and XML paths.
class Told final : public BodyView {
 public:
  Told(std::string event, Values json, Values xml = {})
      : event_(std::move(event)), json_(std::move(json)), xml_(std::move(xml)) {}
  std::string_view event() const override { return event_; }
  bool has_json(std::string_view path, const TextRule& rule) const override { return has(json_, path, rule); }
  bool has_xml(std::string_view path, const TextRule& rule) const override { return has(xml_, path, rule); }

 private:
  std::string event_;
  Values json_, xml_;
};

class ToldHead final : public HeadView {
 public:
  explicit ToldHead(Values fields) : fields_(std::move(fields)) {}
  bool has(std::string_view name, const TextRule& rule) const override {
    return policy::has(fields_, name, rule);
  }

 private:
  Values fields_;
};

const BodyPredicate overloaded{"", "error.type", {"overloaded_error"}};
const BodyPredicate any_error{"", "error"};
const BodyPredicate error_event{"error", ""};
const BodyPredicate overloaded_event{"error", "error.type", {"overloaded_error"}};
const BodyPredicate slow_down{.value = {"SlowDown"}, .xml = "Code"};
const BodyPredicate throttled_head{.value = {.matches = {"Throttling*"}}, .header = "x-amzn-errortype"};

TEST(TextRule, text_rule_is_any_nonempty_text_or_an_exact_value_or_a_pattern) {
  EXPECT_TRUE(TextRule{}.holds("x"));
  EXPECT_FALSE(TextRule{}.holds(""));
  EXPECT_FALSE(TextRule{}.reads_text());
  EXPECT_TRUE((TextRule{"SlowDown"}).holds("SlowDown"));
  EXPECT_FALSE((TextRule{"SlowDown"}).holds("slowdown"));
  EXPECT_FALSE((TextRule{"Slow*"}).holds("SlowDown")) << "equals has no stars";
  EXPECT_TRUE((TextRule{""}).reads_text());
  const TextRule either{.matches = {"SlowDown", "*Throttling*"}};
  EXPECT_TRUE(either.reads_text());
  EXPECT_TRUE(either.holds("SlowDown"));
  EXPECT_TRUE(either.holds("com.amazon.coral#ThrottlingException:http://x/"));
  EXPECT_FALSE(either.holds("SlowDowns"));
}

TEST(TextRule, star_in_a_pattern_matches_any_characters_or_none) {
  const auto like = [](std::string_view text, const char* pattern) {
    return TextRule{.matches = {pattern}}.holds(text);
  };
  EXPECT_TRUE(like("", "*"));
  EXPECT_TRUE(like("x", "*"));
  EXPECT_TRUE(like("abc", "abc"));
  EXPECT_TRUE(like("abc", "a*"));
  EXPECT_TRUE(like("abc", "*c"));
  EXPECT_TRUE(like("abc", "*b*"));
  EXPECT_TRUE(like("abc", "a*c"));
  EXPECT_TRUE(like("abc", "**a**bc**"));
  EXPECT_TRUE(like("abc", "abc*"));
  EXPECT_TRUE(like("aXbYbZc", "a*b*c"));
  EXPECT_TRUE(like("ababab", "*abab")) << "the last piece is found at the end, not at its first place";
  EXPECT_TRUE(like("aaab", "*aab"));
  EXPECT_FALSE(like("abc", "ab"));
  EXPECT_FALSE(like("abc", "bc"));
  EXPECT_FALSE(like("abc", "*b"));
  EXPECT_FALSE(like("abc", "b*"));
  EXPECT_FALSE(like("abc", "A*"));
  EXPECT_FALSE(like("ab", "ab*b")) << "pieces do not overlap";
  EXPECT_FALSE(like("aba", "*ab*ba*"));
  EXPECT_FALSE(like("a", "a*a"));
}

TEST(BodyPredicate, predicate_matches_only_when_all_of_its_keys_match) {
  const Told body("", {{"error.type", "overloaded_error"}});
  const Told stream("error", {{"error.type", "overloaded_error"}});
  const Told other("error", {{"error.type", "invalid_request_error"}});
  const auto matches = [](const BodyPredicate& predicate, const BodyView& seen) {
    return match_body({predicate}, 200, seen);
  };
  EXPECT_TRUE(matches(overloaded, body));
  EXPECT_TRUE(matches(overloaded, stream));
  EXPECT_FALSE(matches(overloaded, other));
  EXPECT_FALSE(matches(any_error, body));
  EXPECT_FALSE(matches(error_event, body));
  EXPECT_TRUE(matches(error_event, other));
  EXPECT_TRUE(matches(overloaded_event, stream));
  EXPECT_FALSE(matches(overloaded_event, other));
  EXPECT_FALSE(matches(overloaded_event, body));
}

TEST(BodyPredicate, body_predicate_is_matched_only_against_the_kind_of_content_it_names) {
  const Values code{{"Code", "SlowDown"}};
  EXPECT_TRUE(match_body({slow_down}, 400, Told("", {}, code)));
  EXPECT_FALSE(match_body({slow_down}, 400, Told("", code, {})));
  EXPECT_FALSE(match_body({BodyPredicate{"", "Code"}}, 400, Told("", {}, code)));
  EXPECT_FALSE(match_body({throttled_head}, 400, Told("", {}, code))) << "a field is not in a body";
}

TEST(BodyPredicate, only_header_predicates_are_matched_against_a_response_head) {
  const ToldHead head(Values{{"x-amzn-errortype", "ThrottlingException"}});
  EXPECT_TRUE(match_head({overloaded, throttled_head}, 400, head));
  EXPECT_FALSE(match_head({overloaded, slow_down, error_event}, 400, head));
  EXPECT_FALSE(
      match_head({throttled_head}, 400, ToldHead(Values{{"x-amzn-errortype", "ValidationException"}})));
  EXPECT_FALSE(match_head({throttled_head}, 400, ToldHead(Values{})));
}

TEST(BodyPredicate, status_restricts_a_predicate_to_responses_with_that_status) {
  BodyPredicate predicate = slow_down;
  predicate.status = StatusRange{400, 499};
  const Told body("", {}, {{"Code", "SlowDown"}});
  for (const int status : {400, 403, 499}) EXPECT_TRUE(match_body({predicate}, status, body)) << status;
  for (const int status : {200, 399, 500}) EXPECT_FALSE(match_body({predicate}, status, body)) << status;
  BodyPredicate field = throttled_head;
  field.status = StatusRange{400, 400};
  const ToldHead head(Values{{"x-amzn-errortype", "ThrottlingException"}});
  EXPECT_TRUE(match_head({field}, 400, head));
  EXPECT_FALSE(match_head({field}, 401, head));
  EXPECT_TRUE(concerns(throttled_head, 200));
  EXPECT_FALSE(concerns(field, 200));
}

TEST(BodyPredicate, list_of_predicates_matches_when_any_predicate_does) {
  const Told body("", {{"error.type", "overloaded_error"}});
  EXPECT_TRUE(match_body({error_event, overloaded}, 200, body));
  EXPECT_FALSE(match_body({error_event, any_error}, 200, body));
  EXPECT_FALSE(match_body({}, 200, body));
  EXPECT_FALSE(match_head({}, 200, ToldHead(Values{{"a", "b"}})));
}

TEST(BodyPredicate, predicate_description_lists_its_conditions) {
  EXPECT_EQ(describe(overloaded), "json: error.type, equals: overloaded_error");
  EXPECT_EQ(describe(any_error), "json: error");
  EXPECT_EQ(describe(error_event), "event: error");
  EXPECT_EQ(describe(overloaded_event), "event: error, json: error.type, equals: overloaded_error");
  EXPECT_EQ(describe(throttled_head), "header: x-amzn-errortype, matches: Throttling*");
  BodyPredicate predicate{.value = {.matches = {"a*", "b"}}, .xml = "Error.Code"};
  predicate.status = StatusRange{400, 499};
  EXPECT_EQ(describe(predicate), "status: 4xx, xml: Error.Code, matches: [a*, b]");
  EXPECT_EQ(describe(StatusRange{400, 400}), "400");
  EXPECT_EQ(describe(StatusRange{400, 403}), "400-403");
  EXPECT_EQ(describe(StatusRange{401, 500}), "401-500");
  EXPECT_EQ(describe(StatusRange{300, 499}), "300-499");
}

}  // namespace
}  // namespace reprise::policy
