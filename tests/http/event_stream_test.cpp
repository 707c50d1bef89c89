// Tests reading the first event of an event stream, in every spelling and however the bytes are split.
#include "proxy/http/body_rules/event_stream.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reprise::http {
namespace {

struct Case {
  std::string stream;
  std::string name;  ///< empty if no event is complete
  std::string data;
};

std::vector<Case> cases() {
  return {
      {"event: error\ndata: {\"a\":1}\n\n", "error", "{\"a\":1}"},
      {"event: error\rdata: x\r\r", "error", "x"},
      {"event: error\r\ndata: x\r\n\r\n", "error", "x"},
      {"event: error\r\ndata: x\n\r", "error", "x"},
      {"data: x\n\n", "message", "x"},
      {"\xEF\xBB\xBF"
       "event: error\ndata: x\n\n",
       "error", "x"},
      {"\xEF\xBB\xBF\n\xEF\xBB\xBF"
       "event: error\ndata: x\n\n",
       "message", "x"},
      {": keep-alive\n\n: another\nevent: error\n: within\ndata: x\n\n", "error", "x"},
      {"data: one\ndata: two\ndata:\n\n", "message", "one\ntwo\n"},
      {"data\n\n", "message", ""},
      {"data:\n\n", "message", ""},
      {"data:x\n\n", "message", "x"},
      {"data:  x\n\n", "message", " x"},
      {"data: a:b: c\n\n", "message", "a:b: c"},
      {"event:error\ndata:x\n\n", "error", "x"},
      {"event: first\nevent: second\ndata: x\n\n", "second", "x"},
      {"event: error\nevent\ndata: x\n\n", "message", "x"},
      {"id: 7\nretry: 3000\nfoo: bar\ndata: x\n\n", "message", "x"},
      {"retry: 3000\n\nevent: error\ndata: x\n\n", "error", "x"},
      {"event: lost\n\ndata: x\n\n", "message", "x"},
      {"\n\n\r\n\rdata: x\n\n", "message", "x"},
      {"Event: error\nDATA: no\ndata: x\n\n", "message", "x"},
      {" data: no\ndata: x\n\n", "message", "x"},
      {"event: one\ndata: 1\n\nevent: two\ndata: 2\n\n", "one", "1"},
      {"", "", ""},
      {"event: error\ndata: x", "", ""},
      {"event: error\ndata: x\n", "", ""},
      {"event: error\ndata: x\r\n", "", ""},
      {"event: error\n\n", "", ""},
      {": only a comment\n\n", "", ""},
  };
}

TEST(FirstEvent, first_event_is_read_from_a_whole_stream) {
  for (const Case& one : cases()) {
    FirstEvent event;
    event.feed(one.stream);
    EXPECT_EQ(event.complete(), !one.name.empty()) << one.stream;
    EXPECT_EQ(event.name(), one.name) << one.stream;
    if (event.complete()) {
      EXPECT_EQ(event.data(), one.data) << one.stream;
    }
  }
}

TEST(FirstEvent, first_event_does_not_depend_on_input_splits) {
  for (const Case& one : cases()) {
    FirstEvent bytewise;
    for (const char byte : one.stream) bytewise.feed(std::string_view(&byte, 1));
    EXPECT_EQ(bytewise.name(), one.name) << one.stream;
    if (bytewise.complete()) {
      EXPECT_EQ(bytewise.data(), one.data) << one.stream;
    }
    for (std::size_t cut = 0; cut <= one.stream.size(); ++cut) {
      FirstEvent event;
      event.feed(std::string_view(one.stream).substr(0, cut));
      event.feed(std::string_view(one.stream).substr(cut));
      EXPECT_EQ(event.name(), one.name) << one.stream << " cut at " << cut;
      if (event.complete()) {
        EXPECT_EQ(event.data(), one.data) << one.stream << " cut at " << cut;
      }
    }
  }
}

TEST(FirstEvent, event_is_complete_only_at_its_blank_line) {
  FirstEvent event;
  event.feed("event: error\r\ndata: x\r\n");
  EXPECT_FALSE(event.complete());
  EXPECT_EQ(event.name(), "");
  event.feed("\r");
  EXPECT_TRUE(event.complete());
  event.feed("\nevent: other\ndata: y\n\n");
  EXPECT_EQ(event.name(), "error");
  EXPECT_EQ(event.data(), "x");
}

}  // namespace
}  // namespace reprise::http
