// Tests what body predicates find in the head and body of a response. Also tests the search for a value at a
// JSON path.
#include "proxy/http/body_rules/response_body_probe.hpp"
#include "proxy/http/http1/parse.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/http/body_rules/json_probe.hpp"

namespace reprise::http {
namespace {

using policy::BodyKind;
using Text = policy::TextRule;

BodyKind kind_of(const std::string& fields) {
  const std::string text = "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 2\r\n\r\n";
  ResponseHead head;
  const Parsed parsed = parse_response(text, {}, "GET", head);
  EXPECT_TRUE(std::holds_alternative<Progress>(parsed)) << fields;
  return body_kind(head);
}

TEST(ResponseBody, kind_of_a_response_body_follows_from_its_content_type) {
  EXPECT_EQ(kind_of(""), BodyKind::untyped);
  for (const std::string type :
       {"application/json", "Application/JSON; charset=utf-8", "application/problem+json",
        "application/vnd.api+JSON ;a=b", "application/x-amz-json-1.0", "application/X-AMZ-json-1.1"})
    EXPECT_EQ(kind_of("Content-Type: " + type + "\r\n"), BodyKind::json) << type;
  for (const std::string type :
       {"application/xml", "text/xml;charset=UTF-8", "Text/XML", "application/problem+xml"})
    EXPECT_EQ(kind_of("Content-Type: " + type + "\r\n"), BodyKind::xml) << type;
  for (const std::string type : {"text/event-stream", "text/event-stream;charset=utf-8", "TEXT/EVENT-STREAM"})
    EXPECT_EQ(kind_of("content-type: " + type + "\r\n"), BodyKind::event_stream) << type;
  for (const std::string type :
       {"text/plain", "application/x-ndjson", "+json", "json", "application/jsonp", "text/event-streams",
        "+xml", "text/xmlx", "text/html", "application/x-amz-json", ""})
    EXPECT_EQ(kind_of("Content-Type: " + type + "\r\n"), BodyKind::other) << type;
}

TEST(ResponseBody, content_coded_body_is_never_inspected) {
  const std::string json = "Content-Type: application/json\r\n";
  EXPECT_EQ(kind_of(json + "Content-Encoding: gzip\r\n"), BodyKind::other);
  EXPECT_EQ(kind_of("Content-Encoding: br\r\n" + json), BodyKind::other);
  EXPECT_EQ(kind_of(json + "Content-Encoding: identity\r\n"), BodyKind::json);
  EXPECT_EQ(kind_of("Content-Encoding: gzip\r\nContent-Type: text/xml\r\n"), BodyKind::other);
  EXPECT_EQ(kind_of("Content-Encoding: gzip\r\nContent-Type: text/event-stream\r\n"), BodyKind::other);
}

TEST(JsonPath, json_values_match_by_their_text) {
  const JsonText text(
      R"({"error":{"type":"overloaded_error","code":529,"big":1.50e3,"retry":true,"at":null,"none":""}})");
  EXPECT_TRUE(text.has_at("error.type", Text{"overloaded_error"}));
  EXPECT_FALSE(text.has_at("error.type", Text{"overloaded"}));
  EXPECT_FALSE(text.has_at("error.type", Text{""}));
  EXPECT_TRUE(text.has_at("error.code", Text{"529"}));
  EXPECT_FALSE(text.has_at("error.code", Text{"529.0"}));
  EXPECT_TRUE(text.has_at("error.big", Text{"1.50e3"}));
  EXPECT_TRUE(text.has_at("error.retry", Text{"true"}));
  EXPECT_FALSE(text.has_at("error.retry", Text{"false"}));
  EXPECT_FALSE(text.has_at("error.at", Text{"null"}));
  EXPECT_FALSE(text.has_at("error.at", {}));
  EXPECT_FALSE(text.has_at("error.none", {}));
  EXPECT_FALSE(text.has_at("error", Text{"overloaded_error"}));
  for (const char* there : {"error", "error.type", "error.code", "error.retry"})
    EXPECT_TRUE(text.has_at(there, {})) << there;
  for (const char* absent : {"type", "error.type.x", "error.nope", "errors.type", "x", "error.type.", ""})
    EXPECT_FALSE(text.has_at(absent, {})) << absent;
}

TEST(JsonPath, json_path_must_match_completely_and_may_pass_only_through_objects) {
  const Text x{"x"};
  EXPECT_TRUE(JsonText(R"({"a":{"b":{"c":"x"}}})").has_at("a.b.c", x));
  EXPECT_TRUE(JsonText(R"({"z":[{"a":1}],"a":{"y":{"b":0},"b":{"c":"x"}}})").has_at("a.b.c", x));
  for (const std::string text :
       {R"({"b":{"c":"x"}})", R"({"a":{"c":"x"}})", R"({"a":[{"b":{"c":"x"}}]})",
        R"([{"a":{"b":{"c":"x"}}}])", R"({"a":{"x":{"b":{"c":"x"}}}})", R"({"a":{"b":{"d":{"c":"x"}}}})",
        R"({"a":{"b":"c"},"c":"x"})", R"({"a.b.c":"x"})", R"({"a":{"b":{"c":["x"]}}})",
        R"({"a":{"b":{"c":{"x":"x"}}}})"}) {
    EXPECT_FALSE(JsonText(text).has_at("a.b.c", x)) << text;
  }
  EXPECT_TRUE(JsonText(R"({"a":{"b":{"c":["x"]}}})").has_at("a.b.c", {}));
  EXPECT_FALSE(JsonText(R"({"a":{"b":{"c":[]}}})").has_at("a.b.c", {}));
}

TEST(JsonPath, last_value_of_a_repeated_json_key_counts) {
  const Text x{"x"};
  EXPECT_FALSE(JsonText(R"({"a":{"b":"x","b":"y"}})").has_at("a.b", x));
  EXPECT_TRUE(JsonText(R"({"a":{"b":"y","b":"x"}})").has_at("a.b", x));
  EXPECT_FALSE(JsonText(R"({"a":{"b":"x"},"a":{}})").has_at("a.b", x));
  EXPECT_FALSE(JsonText(R"({"a":{"b":"x"},"a":1})").has_at("a.b", x));
  EXPECT_TRUE(JsonText(R"({"a":1,"a":{"b":"x"}})").has_at("a.b", x));
}

TEST(JsonPath, json_pattern_matches_strings_and_numbers_but_not_containers) {
  const JsonText text(
      R"({"__type":"com.amazon.coral#ThrottlingException","n":429,"o":{"a":1},"l":["x"],"e":""})");
  EXPECT_TRUE(text.has_at("__type", {.matches = {"Slow*", "*Throttling*"}}));
  EXPECT_FALSE(text.has_at("__type", {.matches = {"Throttling*"}}));
  EXPECT_TRUE(text.has_at("n", {.matches = {"4*"}}));
  for (const char* path : {"o", "l", "e"}) {
    EXPECT_FALSE(text.has_at(path, {.matches = {"*"}})) << path << " has no text";
    EXPECT_FALSE(text.has_at(path, Text{""})) << path;
  }
}

TEST(JsonPath, escaped_and_long_json_strings_are_matched) {
  EXPECT_TRUE(
      JsonText(R"({"err\u006fr":{"type":"over\u006coaded"}})").has_at("error.type", Text{"overloaded"}));
  const std::string longest(100'000, 'y');
  EXPECT_TRUE(JsonText("{\"a\":\"" + longest + "\"}").has_at("a", Text{longest}));
  EXPECT_FALSE(JsonText("{\"a\":\"" + longest + "\"}").has_at("a", Text{"y"}));
}

TEST(JsonPath, malformed_or_truncated_json_has_no_values) {
  for (const std::string text :
       {R"({"a":"x")", R"({"a":"x"}})", R"({"a":"x"} tail)", "", "a: x", "{'a':'x'}"})
    EXPECT_FALSE(JsonText(text).has_at("a", Text{"x"})) << text;
}

TEST(EventResponse, event_predicate_is_matched_against_the_complete_first_event_only) {
  FirstEvent first;
  first.feed("event: error\ndata: {\"error\":\ndata:  {\"type\":\"overloaded_error\"}}\n");
  const EventResponse body(first);
  EXPECT_EQ(body.event(), "");
  EXPECT_FALSE(body.has_json("error.type", {})) << "it may go on";
  first.feed("\nevent: ping\ndata: {\"error\":{\"type\":\"other\"}}\n\n");
  EXPECT_EQ(body.event(), "error");
  EXPECT_TRUE(body.has_json("error.type", Text{"overloaded_error"}));
  EXPECT_FALSE(body.has_json("error.type", Text{"other"}));
}

TEST(EventResponse, event_stream_never_matches_an_xml_predicate) {
  FirstEvent first;
  first.feed("data: <Code>SlowDown</Code>\n\n");
  EXPECT_FALSE(EventResponse(first).has_xml("Code", {}));
}

TEST(WholeResponse, whole_body_is_inspected_according_to_its_kind) {
  const std::string json = R"({"error":{"type":"overloaded_error"}})";
  const std::string xml = "<Error><Code>SlowDown</Code></Error>";
  const Text overloaded{"overloaded_error"}, slow{"SlowDown"};
  EXPECT_EQ(WholeResponse(json, BodyKind::json).event(), "");
  EXPECT_TRUE(WholeResponse(json, BodyKind::json).has_json("error.type", overloaded));
  EXPECT_FALSE(WholeResponse(json, BodyKind::json).has_json("error.type", slow));
  EXPECT_TRUE(WholeResponse(xml, BodyKind::xml).has_xml("Code", slow));
  EXPECT_FALSE(WholeResponse(xml, BodyKind::xml).has_xml("Code", overloaded));
  EXPECT_TRUE(WholeResponse(json, BodyKind::untyped).has_json("error.type", overloaded));
  EXPECT_TRUE(WholeResponse(xml, BodyKind::untyped).has_xml("Code", slow));
  for (const BodyKind kind : {BodyKind::xml, BodyKind::other})
    EXPECT_FALSE(WholeResponse(json, kind).has_json("error.type", overloaded));
  for (const BodyKind kind : {BodyKind::json, BodyKind::other})
    EXPECT_FALSE(WholeResponse(xml, kind).has_xml("Code", slow));
}

TEST(ResponseFields, response_fields_match_by_case_insensitive_name_and_value) {
  const std::string text =
      "HTTP/1.1 400 Bad Request\r\nX-Amzn-ErrorType:  ThrottlingException:http://x/ \r\nContent-Length: 0\r\n"
      "A: one\r\nA: two\r\nEmpty:\r\n\r\n";
  ResponseHead head;
  ASSERT_TRUE(std::holds_alternative<Progress>(parse_response(text, {}, "GET", head)));
  const ResponseFields fields(head);
  EXPECT_TRUE(fields.has("x-amzn-errortype", {.matches = {"ThrottlingException:*"}}));
  EXPECT_TRUE(fields.has("X-AMZN-ERRORTYPE", {"ThrottlingException:http://x/"})) << "without blanks";
  EXPECT_FALSE(fields.has("x-amzn-errortype", {"ThrottlingException"}));
  EXPECT_TRUE(fields.has("a", {"two"})) << "each line is looked at";
  EXPECT_TRUE(fields.has("Content-Length", {"0"})) << "known fields too";
  EXPECT_FALSE(fields.has("empty", {}));
  EXPECT_FALSE(fields.has("absent", {}));
}

}  // namespace
}  // namespace reprise::http
