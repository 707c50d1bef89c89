// Tests how `hold` is parsed, inherited and printed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/reference/effective.hpp"

namespace reprise::config {
namespace {

using namespace std::chrono_literals;
using policy::BodyPredicate;

Settings load(const std::string& text) {
  Loaded loaded = load_text("version: 1\n" + text, {});
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << to_line(problem, "f.yaml");
  return loaded.settings ? *loaded.settings : built_in();
}

policy::RoutePolicy first(const std::string& text) { return (*load(text).routes)[0].policy; }
policy::RoutePolicy defaults(const std::string& text) { return first("defaults: {" + text + "}\n"); }

TEST(Hold, hold_is_off_by_default) {
  EXPECT_FALSE(defaults("").hold);
  EXPECT_FALSE(defaults("hold: off").hold);
  EXPECT_FALSE(defaults("").retry.on.truncated);
}

TEST(Hold, omitted_hold_keys_get_their_defaults) {
  const auto bytes = defaults("hold: {bytes: 64KiB}").hold;
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->bytes, 65536U);
  EXPECT_EQ(bytes->time, 1s);
  EXPECT_TRUE(bytes->body.empty());
  const auto body = defaults("hold: {time: 250ms, body: {event: error}}").hold;
  ASSERT_TRUE(body);
  EXPECT_EQ(body->bytes, 0U);
  EXPECT_EQ(body->time, 250ms);
}

TEST(Hold, hold_body_is_one_predicate_or_a_list) {
  const BodyPredicate overloaded{"", "error.type", {"overloaded_error"}};
  EXPECT_EQ(defaults("hold: {body: {json: error.type, equals: overloaded_error}}").hold->body,
            std::vector{overloaded});
  const auto list = defaults(
      "hold: {body: [{json: error}, {event: error}, {event: e, json: code, equals: 529}, {json: a, equals: "
      "\"\"}]}");
  ASSERT_EQ(list.hold->body.size(), 4U);
  EXPECT_EQ(list.hold->body[0], (BodyPredicate{"", "error"}));
  EXPECT_EQ(list.hold->body[1], (BodyPredicate{"error", ""}));
  EXPECT_EQ(list.hold->body[2], (BodyPredicate{"e", "code", {"529"}}));
  EXPECT_EQ(list.hold->body[3], (BodyPredicate{"", "a", {""}}));
}

TEST(Hold, route_hold_merges_with_defaults_key_by_key_and_off_disables_it) {
  const std::string layers = "defaults: {hold: {bytes: 1KiB, time: 2s, body: {event: error}}}\nroutes:\n";
  const auto route = first(layers + "  - {name: r, hold: {body: [{json: error}]}}\n");
  EXPECT_EQ(route.hold->bytes, 1024U);
  EXPECT_EQ(route.hold->time, 2s);
  EXPECT_EQ(route.hold->body, (std::vector{BodyPredicate{"", "error"}}));
  EXPECT_FALSE(first(layers + "  - {name: r, hold: off}\n").hold);
}

TEST(Hold, truncated_can_be_listed_in_retry_on) {
  EXPECT_TRUE(defaults("retry: {on: [truncated]}, hold: {bytes: 1KiB}").retry.on.truncated);
}

TEST(Hold, printed_hold_settings_load_back_unchanged) {
  const std::string text =
      "defaults: {retry: {on: [503, truncated]}, hold: {bytes: 64KiB, time: 1500ms, body: [{event: \"a: b\", "
      "json: "
      "error.type, equals: \"x, y\"}, {json: a}]}}\n";
  const std::string printed = effective_yaml(load(text));
  EXPECT_NE(printed.find("bytes: 64KiB"), std::string::npos) << printed;
  EXPECT_NE(printed.find(R"([{event: "a: b", json: error.type, equals: "x, y"}, {json: a}])"),
            std::string::npos)
      << printed;
  Loaded again = load_text(printed, {});
  ASSERT_TRUE(again.settings);
  EXPECT_EQ(effective_yaml(*again.settings), printed);
}

TEST(Hold, hold_body_predicates_match_xml_headers_and_status) {
  const auto body =
      defaults(
          "hold: {body: [{status: 400, json: __type, matches: \"*Throttling*\"}, {xml: Error.Code, matches: "
          "[a, "
          "\"b*\"], status: 4xx}, {header: x-amzn-errortype, matches: \"Slow*\"}, {header: X-Y}, {status: "
          "500-502, xml: Code, equals: x}]}")
          .hold->body;
  ASSERT_EQ(body.size(), 5U);
  EXPECT_EQ(body[0], (BodyPredicate{
                         .json = "__type", .value = {.matches = {"*Throttling*"}}, .status = {{400, 400}}}));
  EXPECT_EQ(body[1],
            (BodyPredicate{.value = {.matches = {"a", "b*"}}, .xml = "Error.Code", .status = {{400, 499}}}));
  EXPECT_EQ(body[2], (BodyPredicate{.value = {.matches = {"Slow*"}}, .header = "x-amzn-errortype"}));
  EXPECT_EQ(body[3], (BodyPredicate{.header = "X-Y"}));
  EXPECT_EQ(body[4], (BodyPredicate{.value = {"x"}, .xml = "Code", .status = {{500, 502}}}));
}

TEST(Hold, printed_hold_predicates_of_every_kind_load_back_unchanged) {
  const std::string list =
      R"([{status: 400, json: "__type", matches: "*Throttling*"}, {status: 4xx, xml: Error.Code, matches: [a, "b, *"]}, {status: 400-403, header: x-amzn-errortype}, {event: error, json: code, matches: [a, b]}])";
  const std::string printed = effective_yaml(load("defaults: {hold: {body: " + list + "}}\n"));
  EXPECT_NE(printed.find(list), std::string::npos) << printed;
  EXPECT_EQ(effective_yaml(load_text(printed, {}).settings.value_or(built_in())), printed);
}

// Returns true if `hold.body` of the preset lists a response with this status and this x-amzn-errortype.
bool listed_by_head(const std::string& preset, int status, const std::string& value) {
  struct Head final : policy::HeadView {
    std::string value;
    bool has(std::string_view name, const policy::TextRule& rule) const override {
      return name == "x-amzn-errortype" && rule.holds(value);
    }
  };
  Head head;
  head.value = value;
  return policy::match_head(first("presets: [" + preset + "]\n").hold->body, status, head);
}

struct Body final : policy::BodyView {
  std::string name, path, text;
  bool is_xml = false;
  std::string_view event() const override { return name; }
  bool has_json(std::string_view at, const policy::TextRule& rule) const override {
    return !is_xml && at == path && rule.holds(text);
  }
  bool has_xml(std::string_view at, const policy::TextRule& rule) const override {
    return is_xml && at == path && rule.holds(text);
  }
};

bool listed(const std::string& preset, int status, const std::string& event, const std::string& path,
            const std::string& text, bool is_xml = false) {
  Body body;
  body.name = event;
  body.path = path;
  body.text = text;
  body.is_xml = is_xml;
  return policy::match_body(first("presets: [" + preset + "]\n").hold->body, status, body);
}

// The error codes that botocore retries (retries/standard.py and special.py).
const std::vector<std::string> retried_by_aws{
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "RequestThrottledException",
    "TooManyRequestsException",
    "ProvisionedThroughputExceededException",
    "TransactionInProgressException",
    "RequestLimitExceeded",
    "BandwidthLimitExceeded",
    "LimitExceededException",
    "RequestThrottled",
    "SlowDown",
    "PriorRequestNotComplete",
    "EC2ThrottledException",
    "RequestTimeout",
    "RequestTimeoutException",
};

const std::vector<std::string> final_for_aws{
    "ValidationException",
    "ConditionalCheckFailedException",
    "AccessDeniedException",
    "ExpiredTokenException",
    "RequestTimeTooSkewed",
    "ResourceLimitExceededException",
    "NoSuchKey",
    "InternalError",
    "TransactionCanceledException",
    "RequestExpired",
    "ItemCollectionSizeLimitExceededException",
    "CodeStorageExceededException",
};

TEST(Hold, aws_preset_finds_sdk_retryable_codes_in_headers_and_body) {
  for (const std::string preset :
       {"aws", "{name: aws, policy: aws-2026}", "{name: aws, policy: aws-2026-dynamodb}"}) {
    for (const std::string& code : retried_by_aws) {
      EXPECT_TRUE(listed_by_head(preset, 400, code)) << preset << code;
      EXPECT_TRUE(listed_by_head(preset, 400, code + ":http://internal.amazon.com/coral/")) << preset << code;
      EXPECT_TRUE(listed(preset, 400, "", "__type", code)) << preset << code;
      EXPECT_TRUE(listed(preset, 400, "", "__type", "com.amazonaws.dynamodb.v20120810#" + code))
          << preset << code;
      EXPECT_FALSE(listed_by_head(preset, 200, code)) << preset << code;
      EXPECT_FALSE(listed(preset, 200, "", "__type", code)) << preset << code;
    }
    for (const std::string& code : final_for_aws) {
      EXPECT_FALSE(listed_by_head(preset, 400, code)) << preset << code;
      EXPECT_FALSE(listed(preset, 400, "", "__type", "x#" + code)) << preset << code;
    }
  }
  for (const std::string& code : retried_by_aws) {
    EXPECT_TRUE(listed("aws", 400, "", "code", code)) << code;
    const bool of_json_alone = code.starts_with("Provisioned") || code.starts_with("Transaction");
    EXPECT_EQ(listed("aws", 403, "", "Code", code, true), !of_json_alone) << code;
  }
  for (const std::string& code : final_for_aws)
    EXPECT_FALSE(listed("aws", 400, "", "Code", code, true)) << code;
  EXPECT_TRUE(listed("aws", 400, "", "Code", "IDPCommunicationError", true));
  EXPECT_TRUE(listed("aws", 509, "", "Code", "BandwidthLimitExceeded", true));
  EXPECT_TRUE(listed("aws", 200, "", "Error.Code", "InternalError", true)) << "S3, of a copy";
  EXPECT_FALSE(listed("aws", 200, "", "Code", "InternalError", true));
}

TEST(Hold, llm_preset_detects_overload_in_the_first_event) {
  const auto hold = first("presets: [llm]\n").hold;
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->bytes, 0U);
  EXPECT_TRUE(listed("llm", 200, "error", "error.type", "overloaded_error"));
  EXPECT_TRUE(listed("llm", 200, "error", "error.type", "rate_limit_error"));
  EXPECT_TRUE(listed("llm", 200, "error", "code", "server_is_overloaded"));
  EXPECT_TRUE(listed("llm", 200, "response.failed", "response.error.code", "rate_limit_exceeded"));
  EXPECT_TRUE(listed("llm", 200, "message", "error.code", "slow_down"));
  EXPECT_TRUE(listed("llm", 200, "message", "error.status", "RESOURCE_EXHAUSTED"));
  EXPECT_FALSE(listed("llm", 200, "error", "error.type", "api_error"));
  EXPECT_FALSE(listed("llm", 200, "error", "code", "server_error"));
  EXPECT_FALSE(listed("llm", 200, "message", "error.status", "INVALID_ARGUMENT"));
  for (const int status : {400, 403, 409, 413})
    EXPECT_FALSE(listed("llm", status, "", "error.type", "overloaded_error")) << status;
}

}  // namespace
}  // namespace reprise::config
