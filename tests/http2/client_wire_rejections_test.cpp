// Tests how ClientWire rejects heads, trailers and connections, and how its streams end.
#include "proxy/http/http2/client_wire.hpp"
#include "tests/http2/client_wire_bench.hpp"
#include "tests/http2/field_lists.hpp"

namespace reprise::http::client_wire_rejections_test {

using policy::Http2Flood;

namespace {

using namespace play;

/// A field that the library accepts and the proxy rejects.
const FieldList lookalike = {{"content_length", "5"}};

class ClientWireRejections : public ClientWireBench {
 protected:
  using ClientWireBench::ClientWireBench;

  /// Returns the streams that the wire resets, each with its code.
  std::vector<std::pair<StreamId, std::uint32_t>> resets() {
    std::vector<std::pair<StreamId, std::uint32_t>> streams;
    for (const Frame& frame : flush(FrameType::rst_stream))
      streams.emplace_back(frame.stream, read_big_endian(frame.payload));
    return streams;
  }
  /// Returns the codes of the GOAWAY frames that the wire has to write.
  std::vector<std::uint32_t> goaways() {
    std::vector<std::uint32_t> codes;
    for (const Frame& frame : flush(FrameType::goaway))
      codes.push_back(read_big_endian(std::string_view(frame.payload).substr(4, 4)));
    return codes;
  }
};

using Resets = std::vector<std::pair<StreamId, std::uint32_t>>;
constexpr std::uint32_t protocol_error = 1;
constexpr std::uint32_t stream_closed = 5;
constexpr std::uint32_t refused_stream = 7;
constexpr std::uint32_t cancel = 8;
constexpr std::uint32_t enhance_your_calm = 11;

TEST_F(ClientWireRejections, M49_field_that_only_the_proxy_finds_malformed_resets_its_stream) {
  receive(headers(1, get_fields + lookalike, end_stream));
  EXPECT_TRUE(wire.take_begun().empty());
  EXPECT_EQ(wire.take_malformed(), std::vector{Rejection::lookalike_framing_field});
  EXPECT_EQ(resets(), (Resets{{1, protocol_error}}));
}

TEST_F(ClientWireRejections, M49_field_that_the_library_would_ignore_resets_its_stream) {
  receive(headers(1, get_fields + FieldList{{"x", "a\x01z"}}, end_stream));
  EXPECT_TRUE(wire.take_begun().empty());
  EXPECT_EQ(wire.take_malformed(), std::vector{Rejection::bad_field_value});
  EXPECT_EQ(resets(), (Resets{{1, protocol_error}}));
}

TEST_F(ClientWireRejections, M50_malformed_trailers_fail_a_request_that_has_begun) {
  receive(headers(1, post_fields));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{1});
  receive(headers(1, lookalike, end_stream));
  ASSERT_TRUE(wire.message(1).failure);
  EXPECT_EQ(wire.message(1).failure->why, Rejection::lookalike_framing_field);
  EXPECT_EQ(resets(), (Resets{{1, protocol_error}}));
}

TEST_F(ClientWireRejections, M92_too_many_malformed_heads_end_the_connection) {
  for (StreamId id = 1; id < 2 * 1'100; id += 2) receive(headers(id, get_fields + lookalike, end_stream));
  EXPECT_EQ(goaways(), std::vector{enhance_your_calm});
  EXPECT_EQ(wire.flood(), Http2Flood::resets);
  ASSERT_TRUE(wire.failure());
}

TEST_F(ClientWireRejections, M44_priority_frame_is_ignored_unless_a_stream_depends_on_itself) {
  receive(frame(FrameType::priority, 0, 3, big_endian(1, 4) + std::string(1, '\x10')));
  EXPECT_TRUE(goaways().empty());
  EXPECT_FALSE(wire.failure());
  receive(frame(FrameType::priority, 0, 3, big_endian(3, 4) + std::string(1, '\x10')));
  EXPECT_EQ(goaways(), std::vector{protocol_error});
}

TEST_F(ClientWireRejections, M116_priority_frame_of_another_size_is_an_error) {
  receive(frame(FrameType::priority, 0, 3, "abc"));
  EXPECT_EQ(goaways(), std::vector<std::uint32_t>{6});
}

TEST_F(ClientWireRejections, M45_empty_data_that_ends_the_request_is_read) {
  receive(headers(1, post_fields));
  wire.take_begun();
  receive(data(1, "", end_stream));
  EXPECT_TRUE(wire.message(1).ended);
  EXPECT_EQ(wire.message(1).body, "");
}

TEST_F(ClientWireRejections, M93_too_many_empty_data_frames_end_the_connection) {
  receive(headers(1, post_fields));
  wire.take_begun();
  std::string frames;
  for (int i = 0; i < 2'100; ++i) frames += data(1, "");
  receive(frames);
  EXPECT_EQ(wire.flood(), Http2Flood::empty_frames);
  EXPECT_EQ(goaways(), std::vector{enhance_your_calm});
}

TEST_F(ClientWireRejections, M66_trailers_of_a_released_stream_begin_no_request) {
  receive(headers(1, post_fields));
  for (const StreamId id : wire.take_begun()) wire.release(id);
  receive(headers(1, {{"x-late", "1"}}, end_stream) + headers(3, get_fields, end_stream));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{3});
  EXPECT_EQ(resets(), (Resets{{1, cancel}}));
}

TEST_F(ClientWireRejections, M66_stream_that_was_released_is_not_reported_as_changed_later) {
  receive(headers(1, post_fields) + headers(3, post_fields));
  wire.take_begun();
  receive(data(1, "abc") + data(3, "abc"));
  wire.release(1);
  wire.take_changed();
  receive(data(3, "abc"));
  EXPECT_EQ(wire.take_changed(), std::vector<StreamId>{3});
}

TEST_F(ClientWireRejections, M64_stream_after_the_goodbye_is_excluded_by_it) {
  wire.say_goodbye();
  receive(headers(1, get_fields, end_stream));
  EXPECT_TRUE(wire.take_begun().empty());
  const std::vector<Frame> frames = flush(FrameType::goaway);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].payload, big_endian(0, 4) + big_endian(0, 4));
  EXPECT_EQ(wire.open_streams(), 0U);
}

TEST_F(ClientWireRejections, M64_goodbye_is_said_and_announced_once) {
  wire.announce_goodbye();
  wire.announce_goodbye();
  EXPECT_EQ(goaways(), std::vector<std::uint32_t>{0});
  wire.say_goodbye();
  wire.say_goodbye();
  EXPECT_EQ(goaways(), std::vector<std::uint32_t>{0});
}

TEST_F(ClientWireRejections, M64_ack_of_a_ping_that_was_not_sent_is_no_goodbye) {
  receive(frame(FrameType::ping, ack, 0, "12345678"));
  EXPECT_FALSE(wire.goodbye_is_known());
  wire.announce_goodbye();
  const std::vector<Frame> pings = flush(FrameType::ping);
  ASSERT_EQ(pings.size(), 1U);
  receive(frame(FrameType::ping, ack, 0, pings[0].payload));
  EXPECT_TRUE(wire.goodbye_is_known());
  receive(frame(FrameType::ping, ack, 0, pings[0].payload));
  EXPECT_TRUE(wire.goodbye_is_known());
}

TEST_F(ClientWireRejections, M103_stream_is_refused_while_the_memory_is_used_up) {
  memory.add(1 << 20);
  receive(headers(1, get_fields, end_stream));
  memory.add(-(1 << 20));
  EXPECT_TRUE(wire.take_begun().empty());
  EXPECT_EQ(resets(), (Resets{{1, refused_stream}}));
}

TEST_F(ClientWireRejections, M116_skipped_ids_are_closed) {
  std::string frames;
  for (StreamId id = 1; id < 4 * 20; id += 4) frames += headers(id, post_fields);
  receive(frames);
  EXPECT_EQ(wire.take_begun().size(), 20U);
  receive(headers(1, {{"x", "1"}}, end_stream));
  EXPECT_TRUE(wire.message(1).ended);
  EXPECT_FALSE(wire.failure());
  receive(headers(75, get_fields, end_stream));
  EXPECT_EQ(goaways(), std::vector{protocol_error});
}

TEST_F(ClientWireRejections, M116_frame_of_a_stream_that_the_client_has_ended_is_an_error) {
  receive(headers(1, get_fields, end_stream));
  wire.take_begun();
  respond(1, "HTTP/1.1 200 OK\r\n\r\n", true);
  flush(FrameType::headers);
  receive(data(1, "late"));
  EXPECT_EQ(goaways(), std::vector{stream_closed});
}

TEST_F(ClientWireRejections, bytes_that_are_not_the_preface_end_the_connection) {
  ClientWire other(TargetForm::origin, {{}, 2}, memory);
  other.receive("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", now);
  ASSERT_TRUE(other.failure());
  EXPECT_EQ(other.failure()->kind, Http2Failure::Kind::malformed);
  other.receive("more", now);
  EXPECT_TRUE(other.take_begun().empty());
}

TEST_F(ClientWireRejections, M65_response_that_the_window_holds_back_is_stuck_only_after_the_fin) {
  receive(settings({{4, 10}}));
  receive(headers(1, get_fields, end_stream) + headers(3, get_fields, end_stream));
  wire.take_begun();
  const std::string body(100, 'a');
  respond(1, "HTTP/1.1 200 OK\r\n\r\n", false);
  wire.send(1, body);
  respond(3, "HTTP/1.1 200 OK\r\n\r\n", true);
  flush(FrameType::data);
  EXPECT_FALSE(wire.is_stuck(1));
  wire.input_ended();
  EXPECT_TRUE(wire.is_stuck(1));
  EXPECT_FALSE(wire.is_stuck(3));
  wire.stop_sending(1);
  EXPECT_FALSE(wire.is_stuck(1));
}

TEST_F(ClientWireRejections, M65_frames_that_wait_to_be_written_are_not_stuck) {
  receive(headers(1, get_fields, end_stream));
  wire.take_begun();
  respond(1, "HTTP/1.1 200 OK\r\n\r\n", false);
  wire.end(1, {});
  wire.input_ended();
  EXPECT_FALSE(wire.is_stuck(1));
  EXPECT_EQ(flush(FrameType::data).size(), 1U);
  EXPECT_FALSE(wire.is_stuck(1));
  EXPECT_TRUE(wire.all_written(1));
}

TEST_F(ClientWireRejections, M65_response_to_a_stream_that_the_client_has_reset_is_not_sent) {
  receive(headers(1, get_fields, end_stream));
  wire.take_begun();
  receive(rst_stream(1, cancel));
  write_response_fields("HTTP/1.1 103 Hints\r\n\r\n", block);
  wire.send_interim(1, block);
  respond(1, "HTTP/1.1 200 OK\r\n\r\n", true);
  EXPECT_TRUE(flush(FrameType::headers).empty());
}

TEST_F(ClientWireRejections, M64_all_open_streams_are_reset_once) {
  receive(headers(1, get_fields, end_stream) + headers(3, get_fields, end_stream));
  wire.take_begun();
  receive(rst_stream(1, cancel));
  wire.reset_all(Http2Code::cancel);
  EXPECT_EQ(resets(), (Resets{{3, cancel}}));
  wire.connection_ended();
  wire.reset_all(Http2Code::cancel);
  wire.say_goodbye();
  wire.announce_goodbye();
  EXPECT_TRUE(wire.output().empty());
}

/// Limits of which each head below exceeds another one.
class SmallHeads : public ClientWireRejections {
 protected:
  SmallHeads() : ClientWireRejections(HeadLimits{.bytes = 1'000, .fields = 10, .target_bytes = 100}) {}
  const Http2Message& begun(const FieldList& fields) {
    const StreamId id = std::exchange(next_, next_ + 2);
    receive(headers(id, fields, end_stream));
    EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{id});
    return wire.message(id);
  }

 private:
  StreamId next_ = 1;
};

TEST_F(SmallHeads, M96_head_above_each_limit_begins_a_stream_without_a_head) {
  FieldList many = get_fields;
  for (int i = 0; i < 20; ++i) many.emplace_back("x", "1");
  FieldList long_target = get_fields;
  long_target.back().second = "/" + std::string(200, 'a');
  const std::pair<FieldList, Rejection> cases[] = {
      {get_fields + FieldList{{"x", std::string(2'000, 'a')}}, Rejection::header_too_large},
      {many, Rejection::too_many_fields},
      {long_target, Rejection::target_too_long}};
  for (const auto& [fields, cause] : cases) {
    const Http2Message& message = begun(fields);
    EXPECT_EQ(message.too_large, cause);
    EXPECT_EQ(message.heads, "");
    EXPECT_FALSE(message.is_call);
  }
}

TEST_F(SmallHeads, M80_head_of_a_call_above_the_limit_is_known_to_be_one) {
  const FieldList large{{"x", std::string(2'000, 'a')}};
  const FieldList typed{{"accept", "a"}, {"content-type", "application/grpc"}};
  EXPECT_TRUE(begun(post_fields + typed + large).is_call);
  EXPECT_FALSE(begun(get_fields + typed + large).is_call);
  EXPECT_FALSE(begun(post_fields + FieldList{{"content-type", "text/plain"}} + large).is_call);
  EXPECT_FALSE(begun(post_fields + FieldList{{"accept", "a"}} + large).is_call);
}

TEST_F(SmallHeads, M95_head_of_few_frames_and_too_many_bytes_ends_the_connection) {
  receive(headers(1, get_fields + FieldList{{"x", std::string(5'000, 'a')}}, end_stream));
  EXPECT_EQ(wire.flood(), Http2Flood::header_block);
  EXPECT_EQ(goaways(), std::vector{enhance_your_calm});
}

class OneStream : public ClientWireRejections {
 protected:
  OneStream() : ClientWireRejections({}, 1) {}
};

TEST_F(OneStream, M99_malformed_head_of_a_refused_stream_is_not_counted) {
  receive(headers(1, post_fields));
  wire.take_begun();
  const FieldList without_path{{":method", "GET"}, {":scheme", "http"}, {":authority", "a.test"}};
  receive(headers(3, without_path, end_stream));
  EXPECT_TRUE(wire.take_malformed().empty());
  EXPECT_TRUE(wire.take_begun().empty());
  const Resets got = resets();
  ASSERT_FALSE(got.empty());
  EXPECT_EQ(got[0].first, 3);
}

}  // namespace
}  // namespace reprise::http::client_wire_rejections_test
