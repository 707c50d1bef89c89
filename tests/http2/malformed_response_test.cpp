// Tests which heads of HTTP/2 responses are malformed, and how an upstream that violates HTTP/2 ends its
// connection.
#include <gtest/gtest.h>

#include "proxy/http/http2/response_text.hpp"
#include "tests/http2/field_lists.hpp"
#include "tests/support/http2_wire.hpp"

namespace reprise::http::malformed_response_test {
namespace {

using namespace play;
using Section = ResponseText::Section;

std::optional<Rejection> rejection_of(const FieldList& fields, Section section = Section::head) {
  ResponseText response;
  response.begin(section, {});
  for (const auto& [name, value] : fields) response.add(name, value);
  return response.end();
}

TEST(MalformedResponse, M51_status_that_is_not_a_final_or_interim_one_is_rejected) {
  for (const std::string status : {"", "20", "2000", "2x0", "x00", "20x", "099", "600", "999", "101"})
    EXPECT_EQ(rejection_of({{":status", status}}), Rejection::bad_status) << status;
  for (const std::string status : {"100", "200", "599"})
    EXPECT_EQ(rejection_of({{":status", status}}), std::nullopt) << status;
}

TEST(MalformedResponse, M51_missing_repeated_unknown_or_late_pseudo_field_is_rejected) {
  const FieldList status{{":status", "200"}};
  for (const FieldList& fields :
       {FieldList{}, FieldList{{"x", "1"}}, status + status, status + FieldList{{":path", "/"}},
        status + FieldList{{"x", "1"}} + status})
    EXPECT_EQ(rejection_of(fields), Rejection::bad_status_line) << testing::PrintToString(fields);
  EXPECT_EQ(rejection_of(status, Section::trailers), Rejection::bad_status_line);
}

TEST(MalformedResponse, M49_first_cause_of_a_rejected_block_is_kept) {
  ResponseText response;
  response.begin(Section::head, {});
  response.refuse("x", "1");
  response.add(":status", "200");
  response.add("y", "1");
  EXPECT_EQ(response.end(), Rejection::bad_status_line);
}

class MalformedUpstream : public WireTest {
 protected:
  /// Returns the codes of the GOAWAY frames that the wire has to write.
  std::vector<std::uint32_t> goaways() {
    std::vector<std::uint32_t> codes;
    for (const Frame& frame : flush())
      if (frame.type == FrameType::goaway)
        codes.push_back(read_big_endian(std::string_view(frame.payload).substr(4, 4)));
    return codes;
  }
};

TEST_F(MalformedUpstream, M94_pings_whose_acknowledgements_are_not_read_end_the_connection) {
  connect();
  std::string pings;
  for (int i = 0; i < 1'100; ++i) pings += frame(FrameType::ping, 0, 0, "12345678");
  wire.receive(pings);
  EXPECT_TRUE(wire.is_ending());
  EXPECT_EQ(goaways(), std::vector<std::uint32_t>{11});
}

TEST_F(MalformedUpstream, M61_ack_of_a_ping_that_was_not_sent_changes_nothing) {
  connect();
  const StreamId id = ask();
  wire.receive(frame(FrameType::ping, ack, 0, "12345678"));
  EXPECT_TRUE(goaways().empty());
  EXPECT_FALSE(wire.message(id).failure);
  EXPECT_GT(wire.room(), 0U);
}

TEST_F(MalformedUpstream, M40_input_after_a_violation_keeps_the_connection_ending) {
  connect();
  ask();
  wire.receive(data(0, "x"));
  EXPECT_TRUE(wire.is_ending());
  wire.receive(settings());
  EXPECT_TRUE(wire.is_ending());
  EXPECT_EQ(goaways(), std::vector<std::uint32_t>{1});
  EXPECT_EQ(wire.room(), 0U);
}

TEST_F(MalformedUpstream, M66_frames_of_a_released_stream_are_ignored) {
  connect();
  const StreamId released = ask();
  const StreamId kept = ask();
  wire.release(released);
  wire.receive(headers(released, {{":status", "200"}}) + data(released, "abc") +
               headers(released, {{"x", "1"}}, end_stream) + headers(kept, {{":status", "200"}}, end_stream));
  EXPECT_TRUE(wire.message(kept).ended);
  EXPECT_FALSE(wire.failure());
}

TEST_F(MalformedUpstream, M52_trailers_after_a_failure_do_not_change_it) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "200"}, {"content_length", "5"}}) + data(id, "abc") +
               headers(id, {{"x", "1"}}, end_stream));
  ASSERT_TRUE(wire.message(id).failure);
  EXPECT_EQ(wire.message(id).failure->why, Rejection::lookalike_framing_field);
  EXPECT_EQ(wire.message(id).body, "");
}

TEST_F(MalformedUpstream, M12_response_that_opens_no_websocket_keeps_its_head) {
  connect({{8, 1}});
  write_request_fields("GET /x HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
                       "http", block);
  const StreamId refused = wire.open_websocket(block);
  const StreamId opened = wire.open_websocket(block);
  flush();
  wire.receive(headers(refused, {{":status", "403"}}) + headers(opened, {{":status", "200"}}));
  EXPECT_TRUE(wire.message(refused).heads.starts_with("HTTP/1.1 403 ")) << wire.message(refused).heads;
  EXPECT_TRUE(wire.message(opened).heads.starts_with("HTTP/1.1 101 ")) << wire.message(opened).heads;
}

TEST_F(MalformedUpstream, M26_connection_that_has_ended_has_no_room) {
  connect();
  EXPECT_GT(wire.room(), 0U);
  wire.connection_ended();
  EXPECT_EQ(wire.room(), 0U);
}

TEST_F(MalformedUpstream, M104_nothing_is_given_back_if_nothing_was_passed_on) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "200"}}));
  wire.passed_on(id);
  EXPECT_TRUE(flush().empty());
}

}  // namespace
}  // namespace reprise::http::malformed_response_test
