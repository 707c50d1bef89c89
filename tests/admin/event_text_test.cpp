#include "proxy/server/admin/event_text.hpp"

#include <gtest/gtest.h>

namespace reprise::server {
namespace {

std::string event(std::string_view name, std::string_view text) {
  std::string out;
  append_event(out, name, text);
  return out;
}

TEST(EventText, event_consists_of_a_name_line_then_data_lines_then_an_empty_line) {
  EXPECT_EQ(event("status", "{\"a\":1}"), "event: status\ndata: {\"a\":1}\n\n");
  EXPECT_EQ(event("x", ""), "event: x\ndata: \n\n");
}

TEST(EventText, line_breaks_in_the_data_cannot_inject_a_field_or_end_the_event) {
  const std::string three = "event: x\ndata: one\ndata: event: two\ndata: \ndata: three\n\n";
  EXPECT_EQ(event("x", "one\nevent: two\n\nthree"), three);
  EXPECT_EQ(event("x", "one\revent: two\r\rthree"), three);
  EXPECT_EQ(event("x", "one\r\nevent: two\r\n\r\nthree"), three);
  EXPECT_EQ(event("x", "one\n\r\ntwo\n"), "event: x\ndata: one\ndata: \ndata: two\ndata: \n\n");
}

TEST(EventText, stream_head_uses_the_client_http_version_and_closes_the_connection) {
  EXPECT_TRUE(event_stream_head(10).starts_with("HTTP/1.0 200 OK\r\n"));
  const std::string head = event_stream_head(11);
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_NE(head.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(head.find("Transfer-Encoding"), std::string::npos);
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

}  // namespace
}  // namespace reprise::server
