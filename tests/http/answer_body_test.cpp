// What predicates see of an answer's body, and values down a path of a JSON text.
#include "proxy/http/answer_body.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/http/json_probe.hpp"

namespace reprise::http {
namespace {

using policy::BodyKind;
using Text = std::optional<std::string>;

BodyKind kind_of(const std::string& fields) {
  const std::string text = "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 2\r\n\r\n";
  ResponseHead head;
  const Parsed parsed = parse_response(text, {}, "GET", head);
  EXPECT_TRUE(std::holds_alternative<Progress>(parsed)) << fields;
  return body_kind(head);
}

TEST(AnswerBody, IsOfTheKindItsHeadSays) {
  EXPECT_EQ(kind_of(""), BodyKind::json);
  for (const std::string type : {"application/json", "Application/JSON; charset=utf-8",
                                 "application/problem+json", "application/vnd.api+JSON ;a=b"})
    EXPECT_EQ(kind_of("Content-Type: " + type + "\r\n"), BodyKind::json) << type;
  for (const std::string type : {"text/event-stream", "text/event-stream;charset=utf-8", "TEXT/EVENT-STREAM"})
    EXPECT_EQ(kind_of("content-type: " + type + "\r\n"), BodyKind::event_stream) << type;
  for (const std::string type :
       {"text/plain", "application/x-ndjson", "+json", "json", "application/jsonp", "text/event-streams", ""})
    EXPECT_EQ(kind_of("Content-Type: " + type + "\r\n"), BodyKind::other) << type;
}

TEST(AnswerBody, ACodedOneIsNeverLookedAt) {
  const std::string json = "Content-Type: application/json\r\n";
  EXPECT_EQ(kind_of(json + "Content-Encoding: gzip\r\n"), BodyKind::other);
  EXPECT_EQ(kind_of("Content-Encoding: br\r\n" + json), BodyKind::other);
  EXPECT_EQ(kind_of(json + "Content-Encoding: identity\r\n"), BodyKind::json);
  EXPECT_EQ(kind_of("Content-Encoding: gzip\r\nContent-Type: text/event-stream\r\n"), BodyKind::other);
}

TEST(JsonPath, ValuesCountByTheirText) {
  const JsonText text(
      R"({"error":{"type":"overloaded_error","code":529,"big":1.50e3,"retry":true,"at":null,"none":""}})");
  EXPECT_TRUE(text.has_at("error.type", Text("overloaded_error")));
  EXPECT_FALSE(text.has_at("error.type", Text("overloaded")));
  EXPECT_FALSE(text.has_at("error.type", Text("")));
  EXPECT_TRUE(text.has_at("error.code", Text("529")));
  EXPECT_FALSE(text.has_at("error.code", Text("529.0")));
  EXPECT_TRUE(text.has_at("error.big", Text("1.50e3")));
  EXPECT_TRUE(text.has_at("error.retry", Text("true")));
  EXPECT_FALSE(text.has_at("error.retry", Text("false")));
  EXPECT_FALSE(text.has_at("error.at", Text("null")));
  EXPECT_FALSE(text.has_at("error.at", std::nullopt));
  EXPECT_FALSE(text.has_at("error.none", std::nullopt));
  EXPECT_FALSE(text.has_at("error", Text("overloaded_error")));
  for (const char* there : {"error", "error.type", "error.code", "error.retry"})
    EXPECT_TRUE(text.has_at(there, std::nullopt)) << there;
  for (const char* absent : {"type", "error.type.x", "error.nope", "errors.type", "x", "error.type.", ""})
    EXPECT_FALSE(text.has_at(absent, std::nullopt)) << absent;
}

TEST(JsonPath, OnlyTheWholePathThroughObjectsCounts) {
  const Text x("x");
  EXPECT_TRUE(JsonText(R"({"a":{"b":{"c":"x"}}})").has_at("a.b.c", x));
  EXPECT_TRUE(JsonText(R"({"z":[{"a":1}],"a":{"y":{"b":0},"b":{"c":"x"}}})").has_at("a.b.c", x));
  for (const std::string text :
       {R"({"b":{"c":"x"}})", R"({"a":{"c":"x"}})", R"({"a":[{"b":{"c":"x"}}]})",
        R"([{"a":{"b":{"c":"x"}}}])", R"({"a":{"x":{"b":{"c":"x"}}}})", R"({"a":{"b":{"d":{"c":"x"}}}})",
        R"({"a":{"b":"c"},"c":"x"})", R"({"a.b.c":"x"})", R"({"a":{"b":{"c":["x"]}}})",
        R"({"a":{"b":{"c":{"x":"x"}}}})"}) {
    EXPECT_FALSE(JsonText(text).has_at("a.b.c", x)) << text;
  }
  EXPECT_TRUE(JsonText(R"({"a":{"b":{"c":["x"]}}})").has_at("a.b.c", std::nullopt));
  EXPECT_FALSE(JsonText(R"({"a":{"b":{"c":[]}}})").has_at("a.b.c", std::nullopt));
}

TEST(JsonPath, ARepeatedKeyCountsByItsLastValue) {
  const Text x("x");
  EXPECT_FALSE(JsonText(R"({"a":{"b":"x","b":"y"}})").has_at("a.b", x));
  EXPECT_TRUE(JsonText(R"({"a":{"b":"y","b":"x"}})").has_at("a.b", x));
  EXPECT_FALSE(JsonText(R"({"a":{"b":"x"},"a":{}})").has_at("a.b", x));
  EXPECT_FALSE(JsonText(R"({"a":{"b":"x"},"a":1})").has_at("a.b", x));
  EXPECT_TRUE(JsonText(R"({"a":1,"a":{"b":"x"}})").has_at("a.b", x));
}

TEST(JsonPath, EscapesAndLongTexts) {
  EXPECT_TRUE(
      JsonText(R"({"err\u006fr":{"type":"over\u006coaded"}})").has_at("error.type", Text("overloaded")));
  const std::string longest(100'000, 'y');
  EXPECT_TRUE(JsonText("{\"a\":\"" + longest + "\"}").has_at("a", Text(longest)));
  EXPECT_FALSE(JsonText("{\"a\":\"" + longest + "\"}").has_at("a", Text("y")));
}

TEST(JsonPath, BadOrUnfinishedJsonHasNoValues) {
  for (const std::string text :
       {R"({"a":"x")", R"({"a":"x"}})", R"({"a":"x"} tail)", "", "a: x", "{'a':'x'}"})
    EXPECT_FALSE(JsonText(text).has_at("a", Text("x"))) << text;
}

TEST(EventAnswer, LooksIntoTheDataOfTheFirstEvent) {
  FirstEvent first;
  first.feed("event: error\ndata: {\"error\":\ndata:  {\"type\":\"overloaded_error\"}}\n");
  const EventAnswer body(first);
  EXPECT_EQ(body.event(), "");
  EXPECT_FALSE(body.has("error.type", std::nullopt)) << "it may go on";
  first.feed("\nevent: ping\ndata: {\"error\":{\"type\":\"other\"}}\n\n");
  EXPECT_EQ(body.event(), "error");
  EXPECT_TRUE(body.has("error.type", Text("overloaded_error")));
  EXPECT_FALSE(body.has("error.type", Text("other")));
}

TEST(JsonAnswer, HasNoEvent) {
  const JsonAnswer body(R"({"error":{"type":"overloaded_error"}})");
  EXPECT_EQ(body.event(), "");
  EXPECT_TRUE(body.has("error.type", Text("overloaded_error")));
}

}  // namespace
}  // namespace reprise::http
