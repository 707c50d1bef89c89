// Tests UpstreamWire by transcripts of frames: what is sent, what arrives on each stream, and how streams
// end.
#include "proxy/http/http2/upstream_wire.hpp"

#include "tests/support/http2_wire.hpp"

namespace reprise::http {
namespace {

using namespace play;
using Kind = Http2Failure::Kind;

class UpstreamWireTest : public WireTest {};

TEST_F(UpstreamWireTest, connection_begins_with_preface_settings_and_a_larger_window) {
  const std::string_view first = wire.output();
  EXPECT_TRUE(first.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  const std::vector<Frame> frames = flush();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].type, FrameType::settings);
  EXPECT_EQ(frames[0].payload, big_endian(2, 2) + big_endian(0, 4) + big_endian(4, 2) +
                                   big_endian(StreamWindow::least, 4) + big_endian(9, 2) + big_endian(1, 4));
  EXPECT_EQ(frames[1].type, FrameType::window_update);
  EXPECT_EQ(read_big_endian(frames[1].payload), UpstreamWire::connection_window - 65535);
}

TEST_F(UpstreamWireTest, M25_no_stream_can_be_opened_before_the_settings_of_the_upstream) {
  flush();
  EXPECT_FALSE(wire.ready());
  EXPECT_EQ(wire.room(), 0U);
  wire.receive(settings());
  EXPECT_TRUE(wire.ready());
  EXPECT_GT(wire.room(), 1000U);
}

TEST_F(UpstreamWireTest, M26_stream_limit_is_never_exceeded_and_follows_later_settings) {
  connect({{3, 2}});
  EXPECT_EQ(wire.room(), 2U);
  const StreamId first = ask();
  ask();
  EXPECT_EQ(wire.room(), 0U);
  wire.receive(headers(first, {{":status", "204"}}, end_stream));
  EXPECT_EQ(wire.room(), 1U);
  wire.receive(settings({{3, 1}}));
  EXPECT_EQ(wire.room(), 0U);
  wire.receive(settings({{3, 0}}));
  EXPECT_EQ(wire.room(), 0U);
  wire.receive(settings({{3, 3}}));
  EXPECT_EQ(wire.room(), 2U);
}

TEST_F(UpstreamWireTest, request_head_and_body_become_frames) {
  connect();
  const StreamId id = open(post, false);
  EXPECT_EQ(id, 1);
  wire.send(id, "abc");
  std::vector<Frame> frames = flush();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].type, FrameType::headers);
  EXPECT_EQ(reader.fields(frames[0]), (FieldList{{":method", "POST"},
                                                 {":scheme", "http"},
                                                 {":authority", "a.test"},
                                                 {":path", "/pay?a=1"},
                                                 {"content-type", "text/plain"}}));
  EXPECT_EQ(frames[1].payload, "abc");
  EXPECT_EQ(frames[1].flags & end_stream, 0U);
  EXPECT_TRUE(wire.all_written(id));
  wire.send(id, "defg");
  EXPECT_FALSE(wire.all_written(id));
  wire.end(id, {});
  frames = flush();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].payload, "defg");
  EXPECT_EQ(frames[0].flags & end_stream, end_stream);
  EXPECT_TRUE(wire.all_written(id));
}

TEST_F(UpstreamWireTest, M56_request_that_was_not_framed_before_a_goaway_was_not_processed) {
  connect();
  const StreamId sent = open(post, false);
  flush();
  const StreamId waits = open(post, false);
  wire.receive(goaway(0x7fffffff, 0));
  EXPECT_FALSE(wire.message(sent).failure);
  ASSERT_TRUE(wire.message(waits).failure);
  EXPECT_EQ(wire.message(waits).failure->kind, Http2Failure::Kind::above_last_id);
  EXPECT_FALSE(wire.may_have_sent(waits));
  flush();
  EXPECT_EQ(wire.message(waits).failure->kind, Http2Failure::Kind::above_last_id);
}

TEST_F(UpstreamWireTest, M56_request_counts_as_sent_while_its_trailers_are_framed_but_not_written) {
  connect();
  const StreamId id = open(post, false);
  wire.send(id, "abc");
  flush();
  EXPECT_TRUE(wire.may_have_sent(id));
  wire.end(id, "X-Sum: 7\r\n");
  EXPECT_FALSE(wire.output().empty());
  EXPECT_TRUE(wire.may_have_sent(id));
}

TEST_F(UpstreamWireTest, M40_violation_is_known_before_the_goaway_is_framed) {
  connect();
  open(post, false);
  flush();
  wire.receive(data(0, "x", 0));
  EXPECT_TRUE(wire.is_ending());
}

TEST_F(UpstreamWireTest, M36_request_trailers_are_sent_after_the_body) {
  connect();
  const StreamId id = open(post, false);
  wire.send(id, "abc");
  wire.end(id, "X-Sum: 7\r\n");
  const std::vector<Frame> frames = flush();
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[1].flags & end_stream, 0U);
  EXPECT_EQ(frames[2].type, FrameType::headers);
  EXPECT_EQ(frames[2].flags & end_stream, end_stream);
  reader.fields(frames[0]);
  EXPECT_EQ(reader.fields(frames[2]), (FieldList{{"x-sum", "7"}}));
}

TEST_F(UpstreamWireTest, M82_end_of_a_body_that_came_alone_is_an_empty_data_frame) {
  connect();
  const StreamId id = open(post, false);
  wire.send(id, "abc");
  flush();
  wire.end(id, {});
  const std::vector<Frame> frames = flush();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, FrameType::data);
  EXPECT_TRUE(frames[0].payload.empty());
  EXPECT_EQ(frames[0].flags & end_stream, end_stream);
}

TEST_F(UpstreamWireTest, response_is_head_body_and_trailers) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "200"}, {"content-type", "text/plain"}, {"x-empty", ""}}));
  EXPECT_EQ(wire.take_changed(), std::vector<StreamId>{id}) << "its request was written, and a head arrived";
  wire.receive(data(id, "abc") + data(id, "") + data(id, "def"));
  wire.receive(headers(id, {{"x-sum", "7"}}, end_stream));
  Http2Message& response = wire.message(id);
  EXPECT_EQ(response.heads, "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nx-empty: \r\n\r\n");
  EXPECT_EQ(wire.take_body(id), "abcdef");
  EXPECT_EQ(response.trailers, "x-sum: 7\r\n");
  EXPECT_TRUE(response.ended);
  EXPECT_FALSE(response.failure);
  EXPECT_EQ(wire.take_changed(), std::vector<StreamId>{id});
  EXPECT_TRUE(wire.take_changed().empty());
}

TEST_F(UpstreamWireTest, M37_interim_heads_precede_the_final_one) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "103"}, {"link", "</a>"}}) +
               headers(id, {{":status", "204"}}, end_stream));
  EXPECT_EQ(wire.message(id).heads,
            "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_TRUE(wire.message(id).ended);
}

TEST_F(UpstreamWireTest, M45_padding_and_single_bytes_do_not_change_a_body) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "200"}}));
  wire.receive(frame(FrameType::data, padded, id, std::string("\x05") + "abc" + std::string(5, '\0')));
  std::string bytes;
  for (const char byte : std::string_view("defgh")) bytes += data(id, std::string(1, byte));
  for (const char byte : bytes + data(id, "", end_stream)) wire.receive(std::string(1, byte));
  EXPECT_EQ(wire.take_body(id), "abcdefgh");
  EXPECT_TRUE(wire.message(id).ended);
}

TEST_F(UpstreamWireTest, M104_windows_are_given_back_on_receipt_and_on_consumption) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "200"}}));
  const std::string piece(16384, 'x');
  std::size_t received = 0;
  for (; received < StreamWindow::least; received += piece.size()) wire.receive(data(id, piece));
  EXPECT_EQ(wire.take_body(id).size(), received);
  for (const Frame& sent : flush()) EXPECT_NE(sent.stream, id) << "nothing was passed on";
  wire.passed_on(id);
  const std::vector<Frame> frames = flush();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, FrameType::window_update);
  EXPECT_EQ(frames[0].stream, id);
  EXPECT_EQ(read_big_endian(frames[0].payload), received);
}

TEST_F(UpstreamWireTest, M104_stream_that_is_not_read_does_not_close_the_window_of_the_connection) {
  connect();
  const StreamId idle = ask();
  const StreamId id = ask();
  wire.receive(headers(idle, {{":status", "200"}}) + headers(id, {{":status", "200"}}));
  const std::string piece(16384, 'x');
  wire.receive(data(idle, piece));
  std::uint64_t given_back = 0;
  for (int i = 0; i < 2048; ++i) {
    wire.receive(data(id, piece));
    pass_on(id);
    for (const Frame& sent : flush())
      if (sent.stream == 0) given_back += read_big_endian(sent.payload);
  }
  EXPECT_FALSE(wire.failure());
  EXPECT_GT(given_back, std::uint64_t{2048} * 16384 - UpstreamWire::connection_window / 2);
}

TEST_F(UpstreamWireTest, M66_released_stream_is_reset_and_its_late_bytes_are_given_back) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "200"}}));
  wire.release(id);
  std::vector<Frame> frames = flush();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, FrameType::rst_stream);
  EXPECT_EQ(read_big_endian(frames[0].payload), static_cast<std::uint32_t>(Http2Code::cancel));
  std::uint64_t given_back = 0;
  const std::string piece(16384, 'x');
  for (int i = 0; i < 2048; ++i) {
    wire.receive(data(id, piece));
    for (const Frame& sent : flush()) given_back += sent.stream == 0 ? read_big_endian(sent.payload) : 0;
  }
  EXPECT_GT(given_back, std::uint64_t{2048} * 16384 - UpstreamWire::connection_window / 2);
  EXPECT_FALSE(wire.failure());
}

TEST_F(UpstreamWireTest, M56_M68_goaway_fails_only_streams_above_its_last_id) {
  connect();
  const StreamId low = ask();
  const StreamId high = ask();
  wire.receive(goaway(0x7fffffff, 0));
  EXPECT_TRUE(wire.going_away());
  EXPECT_EQ(wire.room(), 0U);
  EXPECT_FALSE(wire.message(high).failure);
  wire.receive(goaway(low, 0));
  ASSERT_TRUE(wire.message(high).failure);
  EXPECT_EQ(wire.message(high).failure->kind, Kind::above_last_id);
  EXPECT_FALSE(wire.message(low).failure);
  wire.receive(headers(low, {{":status", "200"}}) + data(low, "abc", end_stream));
  EXPECT_TRUE(wire.message(low).ended);
}

TEST_F(UpstreamWireTest, M69_M70_reset_carries_its_code) {
  connect();
  const StreamId refused = ask();
  const StreamId reset = ask();
  wire.receive(rst_stream(refused, 7) + rst_stream(reset, 0x1234));
  EXPECT_EQ(wire.message(refused).failure->kind, Kind::reset);
  EXPECT_EQ(wire.message(refused).failure->code, Http2Code::refused_stream);
  EXPECT_EQ(word(wire.message(reset).failure->code), "other");
  EXPECT_FALSE(wire.failure());
}

TEST_F(UpstreamWireTest, M49_to_M51_malformed_heads_reset_their_stream_and_no_other) {
  const std::vector<FieldList> bad = {
      {{"x", "1"}},
      {{":status", "200"}, {":status", "200"}},
      {{"x", "1"}, {":status", "200"}},
      {{":status", "99"}},
      {{":status", "600"}},
      {{":status", "2000"}},
      {{":status", "+20"}},
      {{":status", "101"}},
      {{":status", "200"}, {":path", "/"}},
      {{":status", "200"}, {"X", "1"}},
      {{":status", "200"}, {"x y", "1"}},
      {{":status", "200"}, {"", "1"}},
      {{":status", "200"}, {"x:", "1"}},
      {{":status", "200"}, {"x", "a\r\nb: c"}},
      {{":status", "200"}, {"x", "a\nb"}},
      {{":status", "200"}, {"x", std::string("a\0b", 3)}},
      {{":status", "200"}, {"x", "a\x01"}},
      {{":status", "200"}, {"x", " a"}},
      {{":status", "200"}, {"x", "a\t"}},
      {{":status", "200"}, {"transfer-encoding", "chunked"}},
      {{":status", "200"}, {"connection", "close"}},
      {{":status", "200"}, {"keep-alive", "1"}},
      {{":status", "200"}, {"proxy-connection", "close"}},
      {{":status", "200"}, {"upgrade", "h2c"}},
      {{":status", "200"}, {"te", "gzip"}},
      {{":status", "200"}, {"content_length", "3"}},
      {{":status", "200"}, {"content-length", "+3"}},
      {{":status", "200"}, {"content-length", "3,3"}},
      {{":status", "200"}, {"content-length", "3"}, {"content-length", "3"}},
      {{":status", "200"}, {"content-length", "3"}, {"content-length", "4"}},
  };
  connect();
  for (const FieldList& fields : bad) {
    const StreamId id = ask();
    wire.receive(headers(id, fields));
    bool reset = false;
    for (const Frame& sent : flush())
      reset = reset || (sent.type == FrameType::rst_stream && sent.stream == id);
    const std::string what = testing::PrintToString(fields);
    EXPECT_TRUE(reset) << what;
    ASSERT_TRUE(wire.message(id).failure) << what;
    EXPECT_EQ(wire.message(id).failure->kind, Kind::malformed) << what;
    EXPECT_TRUE(wire.message(id).heads.empty()) << what;
  }
  ASSERT_FALSE(wire.failure());
  const StreamId good = ask();
  wire.receive(headers(good, {{":status", "200"}}, end_stream));
  EXPECT_TRUE(wire.message(good).ended);
}

TEST_F(UpstreamWireTest, M52_trailers_without_an_end_or_with_a_pseudo_field_are_malformed) {
  connect();
  const StreamId open_ended = ask();
  const StreamId pseudo = ask();
  for (const StreamId id : {open_ended, pseudo})
    wire.receive(headers(id, {{":status", "200"}}) + data(id, "abc"));
  wire.receive(headers(open_ended, {{"x-sum", "7"}}));
  wire.receive(headers(pseudo, {{":status", "200"}}, end_stream));
  flush();
  EXPECT_EQ(wire.message(open_ended).failure->kind, Kind::malformed);
  EXPECT_EQ(wire.message(pseudo).failure->kind, Kind::malformed);
  EXPECT_FALSE(wire.message(pseudo).ended);
}

TEST(UpstreamWireLimits, M96_head_above_a_limit_is_decoded_to_its_end_and_rejected) {
  StreamMemory memory{0};
  WireBench small(memory, {.bytes = 150, .fields = 4});
  const auto failure_of = [&](const FieldList& fields) {
    const StreamId id = small.ask();
    small.wire.receive(headers(id, fields, end_stream));
    small.flush();
    return small.wire.message(id).failure.value_or(Http2Failure{}).why;
  };
  small.connect();
  const FieldList plain = {{":status", "200"}, {"a", "1"}, {"b", ""}, {"c", ""}};
  EXPECT_FALSE(failure_of(plain)) << "42, 34, 33 and 33 bytes";
  EXPECT_EQ(failure_of({{":status", "200"}, {"a", std::string(200, 'x')}}), Rejection::header_too_large);
  EXPECT_EQ(failure_of({{":status", "200"}, {"a", "1"}, {"b", ""}, {"c", ""}, {"d", ""}}),
            Rejection::header_too_large);
  EXPECT_FALSE(failure_of(plain));
  EXPECT_FALSE(small.wire.failure());
}

TEST_F(UpstreamWireTest, head_with_too_many_fields_is_rejected) {
  connect();
  const StreamId id = ask();
  FieldList fields = {{":status", "200"}};
  for (std::size_t i = 0; i <= HeadLimits().fields; ++i) fields.emplace_back("a", "");
  wire.receive(headers(id, fields));
  flush();
  EXPECT_EQ(wire.message(id).failure->why, Rejection::too_many_fields);
}

TEST_F(UpstreamWireTest, M58_only_streams_whose_head_was_written_may_have_been_sent) {
  connect();
  const StreamId first = open();
  const StreamId second = open();
  const StreamId third = open(post, false);
  for (const StreamId id : {first, second, third}) EXPECT_FALSE(wire.may_have_sent(id));
  const std::string_view bytes = wire.output();
  const std::size_t each = bytes.size() / 3;
  wire.written(1);
  EXPECT_TRUE(wire.may_have_sent(first));
  EXPECT_FALSE(wire.all_written(first));
  EXPECT_FALSE(wire.may_have_sent(second));
  wire.written(each - 2);
  EXPECT_FALSE(wire.may_have_sent(third));
  wire.connection_ended();
  EXPECT_EQ(wire.message(first).failure->kind, Kind::closed);
  EXPECT_TRUE(wire.may_have_sent(first));
  EXPECT_FALSE(wire.may_have_sent(third));
  EXPECT_EQ(wire.sent_bytes(third), 0U);
}

TEST_F(UpstreamWireTest, L6_acknowledgement_of_a_body_does_not_depend_on_the_bytes_of_other_streams) {
  connect();
  const std::string body(1000, 'b');
  const StreamId first = open(post, false);
  EXPECT_TRUE(wire.all_acknowledged(first, 0)) << "no frame of the stream was written";
  EXPECT_FALSE(wire.body_acknowledged(first, 0));
  write_all();
  EXPECT_FALSE(wire.body_acknowledged(first, 0)) << "only the head is sent";
  wire.send(first, body);
  const std::size_t sent = write_all();
  EXPECT_FALSE(wire.all_acknowledged(first, sent));
  EXPECT_FALSE(wire.body_acknowledged(first, sent)) << "the newest bytes are those of the body";
  EXPECT_FALSE(wire.all_acknowledged(first, 1));
  EXPECT_TRUE(wire.body_acknowledged(first, body.size() - 1));
  EXPECT_FALSE(wire.body_acknowledged(first, body.size())) << "only the head of the frame";

  const StreamId second = open(post, false);
  wire.send(second, body);
  const std::size_t of_second = write_all();
  EXPECT_TRUE(wire.all_acknowledged(first, of_second));
  EXPECT_TRUE(wire.body_acknowledged(first, of_second));
  EXPECT_FALSE(wire.body_acknowledged(second, of_second));
  EXPECT_FALSE(wire.body_acknowledged(first, of_second + sent));
}

TEST_F(UpstreamWireTest, M58_over_TLS_a_head_may_have_been_sent_once_its_write_has_begun) {
  connect();
  const StreamId first = open();
  wire.write_begins(wire.output().size());
  EXPECT_TRUE(wire.may_have_sent(first));
  EXPECT_EQ(wire.sent_bytes(first), 0U);
  const StreamId second = open();
  EXPECT_FALSE(wire.may_have_sent(second));
}

TEST_F(UpstreamWireTest, violation_of_the_connection_fails_every_open_stream) {
  connect();
  const StreamId done = ask();
  const StreamId open_one = ask();
  wire.receive(headers(done, {{":status", "204"}}, end_stream));
  wire.receive(frame(FrameType::settings, 0, 7, ""));
  flush();
  ASSERT_TRUE(wire.failure());
  EXPECT_EQ(wire.failure()->kind, Kind::malformed);
  EXPECT_TRUE(wire.message(done).ended);
  EXPECT_FALSE(wire.message(done).failure);
  EXPECT_EQ(wire.message(open_one).failure->kind, Kind::malformed);
  EXPECT_EQ(wire.room(), 0U);
}

TEST_F(UpstreamWireTest, M14_push_promise_ends_the_connection) {
  connect();
  const StreamId id = ask();
  wire.receive(frame(FrameType::push_promise, end_headers, id,
                     big_endian(2, 4) + header_block({{":method", "GET"}, {":path", "/"}})));
  flush();
  EXPECT_TRUE(wire.failure());
}

TEST_F(UpstreamWireTest, M21_bytes_that_are_no_settings_end_the_connection) {
  flush();
  wire.receive("HTTP/1.1 400 Bad Request\r\n\r\n");
  flush();
  EXPECT_TRUE(wire.failure());
  EXPECT_FALSE(wire.ready());
}

TEST_F(UpstreamWireTest, M27_settings_of_the_upstream_are_obeyed) {
  connect({{1, 0}, {4, 4}, {5, 16384}});
  const StreamId id = open(post, false);
  wire.send(id, "abcdefgh");
  std::vector<Frame> frames = flush();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[1].payload, "abcd") << "the initial window is 4 bytes";
  wire.receive(settings({{4, 2}}));
  wire.receive(window_update(id, 3));
  frames = flush();
  ASSERT_EQ(frames.size(), 2U) << "an ACK and one byte: the window was -2";
  EXPECT_EQ(frames[1].payload, "e");
  EXPECT_FALSE(wire.all_written(id));
}

TEST_F(UpstreamWireTest, ping_is_acknowledged) {
  connect();
  wire.receive(frame(FrameType::ping, 0, 0, "12345678"));
  const std::vector<Frame> frames = flush();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].flags & ack, ack);
  EXPECT_EQ(frames[0].payload, "12345678");
}

TEST_F(UpstreamWireTest, M63_idle_connection_ends_with_goaway) {
  connect();
  wire.say_goodbye();
  const std::vector<Frame> frames = flush();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, FrameType::goaway);
  EXPECT_FALSE(wire.failure());
}

}  // namespace
}  // namespace reprise::http
