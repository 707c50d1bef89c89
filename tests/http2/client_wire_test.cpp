// Tests ClientWire by transcripts of frames: which requests begin, what is refused, and what a response
// becomes.
#include "proxy/http/http2/client_wire.hpp"

#include "tests/http2/client_wire_bench.hpp"

namespace reprise::http {

using policy::Http2Flood;

namespace {

using namespace play;
using policy::Instant;

class ClientWireTest : public ClientWireBench {
 protected:
  ClientWireTest() : ClientWireBench({}, 2) {}

  /// Sends a response of `count` equal pieces. After each piece, the client sends `frames`.
  void download(int count, std::string_view piece, std::string_view frames) {
    receive(headers(1, get_fields, end_stream));
    wire.take_begun();
    respond(1, "HTTP/1.1 200 OK\r\n\r\n", false);
    for (int i = 0; i < count; ++i) {
      if (wire.all_written(1)) wire.send(1, piece);
      flush();
      receive(frames);
      flush();
    }
  }
};

TEST_F(ClientWireTest, M99_settings_announce_the_limit_of_streams) {
  const std::vector<Frame> frames = flush();
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames[0].type, FrameType::settings);
  EXPECT_EQ(frames[0].payload.substr(0, 6), big_endian(3, 2) + big_endian(2, 4));
}

const FieldList websocket_fields = {{":method", "CONNECT"},
                                    {":protocol", "websocket"},
                                    {":scheme", "http"},
                                    {":authority", "a.test"},
                                    {":path", "/x"}};

TEST_F(ClientWireTest, M12_settings_offer_extended_connect) {
  const std::vector<Frame> frames = flush(FrameType::settings);
  ASSERT_FALSE(frames.empty());
  bool offered = false;
  for (std::size_t at = 0; at < frames[0].payload.size(); at += 6)
    offered = offered || frames[0].payload.substr(at, 6) == big_endian(8, 2) + big_endian(1, 4);
  EXPECT_TRUE(offered);
}

TEST_F(ClientWireTest, M12_extended_connect_begins_with_its_protocol) {
  FieldList other = websocket_fields;
  other[1].second = "connect-udp";
  receive(headers(1, websocket_fields) + data(1, "early") + headers(3, other));
  EXPECT_EQ(wire.take_begun(), (std::vector<StreamId>{1, 3}));
  EXPECT_EQ(wire.connect_protocol(1), ConnectProtocol::websocket);
  EXPECT_EQ(wire.connect_protocol(3), ConnectProtocol::other);
  EXPECT_FALSE(wire.is_connect(1));
  EXPECT_EQ(wire.message(1).heads,
            "GET /x HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n");
  EXPECT_EQ(wire.take_body(1), "early");
}

TEST_F(ClientWireTest, M51_protocol_without_connect_is_malformed) {
  FieldList fields = websocket_fields;
  fields[0].second = "GET";
  receive(headers(1, fields));
  EXPECT_TRUE(wire.take_begun().empty());
  EXPECT_EQ(wire.take_malformed().size(), 1U);
  EXPECT_EQ(flush(FrameType::rst_stream).size(), 1U);
}

TEST_F(ClientWireTest, request_without_a_body_begins_with_its_head) {
  receive(headers(1, get_fields, end_stream));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{1});
  EXPECT_EQ(wire.message(1).heads, "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n");
  EXPECT_TRUE(wire.message(1).ended);
  EXPECT_TRUE(wire.take_begun().empty());
}

TEST_F(ClientWireTest, body_and_trailers_follow_the_head) {
  receive(headers(1, post_fields) + data(1, "abc") + headers(1, {{"x-sum", "7"}}, end_stream));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{1});
  EXPECT_EQ(wire.take_body(1), "abc");
  EXPECT_EQ(wire.message(1).trailers, "x-sum: 7\r\n");
  EXPECT_TRUE(wire.message(1).ended);
}

// httpx sends empty frames without end if its window becomes negative.
TEST_F(ClientWireTest, M104_settings_do_not_make_the_window_of_a_client_smaller) {
  for (const Frame& sent : flush(FrameType::settings)) {
    for (std::size_t at = 0; at < sent.payload.size(); at += 6)
      EXPECT_NE(read_big_endian(sent.payload.substr(at, 2)), 4U) << "SETTINGS_INITIAL_WINDOW_SIZE";
  }
  receive(headers(1, post_fields));
  wire.take_begun();
  const std::string piece(16'384, 'x');
  for (int i = 0; i < 3; ++i) receive(data(1, piece));
  receive(data(1, std::string(16'383, 'x')));
  EXPECT_EQ(wire.take_body(1).size(), 65'535U);
  receive(data(1, "x"));
  EXPECT_EQ(flush(FrameType::rst_stream).size(), 1U) << "more than the window allows";
}

TEST_F(ClientWireTest, response_becomes_frames) {
  receive(headers(1, get_fields, end_stream));
  wire.take_begun();
  respond(1, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n", false);
  wire.send(1, "abc");
  wire.end(1, {});
  flush(FrameType::settings);
  EXPECT_TRUE(wire.all_written(1));
  EXPECT_TRUE(wire.closed(1));
  wire.release(1, Http2Code::no_error);
  EXPECT_EQ(wire.open_streams(), 0U);
  EXPECT_TRUE(flush(FrameType::rst_stream).empty());
}

TEST_F(ClientWireTest, written_output_uses_no_memory_while_more_follows) {
  receive(headers(1, get_fields, end_stream) + window_update(0, 1 << 30) + window_update(1, 1 << 30));
  wire.take_begun();
  flush();
  respond(1, "HTTP/1.1 200 OK\r\n\r\n", false);
  const std::string piece(16'384, 'x');
  for (int i = 0; i < 1000; ++i) {
    wire.send(1, piece);
    wire.written(wire.output().size() - 1);
  }
  EXPECT_LE(wire.output_memory(), 256U * 1024);
  wire.written(wire.output().size());
  EXPECT_LE(wire.output_memory(), 1024U) << "idle";
}

TEST_F(ClientWireTest, M37_interim_heads_precede_the_final_one) {
  receive(headers(1, get_fields, end_stream));
  wire.take_begun();
  flush();
  write_response_fields("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", block);
  wire.send_interim(1, block);
  respond(1, "HTTP/1.1 204 No Content\r\n\r\n", true);
  const std::vector<Frame> heads = flush(FrameType::headers);
  ASSERT_EQ(heads.size(), 2U);
  EXPECT_EQ(reader.fields(heads[0]), (FieldList{{":status", "103"}, {"link", "</x>"}}));
  EXPECT_EQ(heads[0].flags & end_stream, 0U);
  EXPECT_EQ(heads[1].flags & end_stream, end_stream);
}

TEST_F(ClientWireTest, M41_request_that_is_not_complete_is_reset_with_no_error_after_the_response) {
  receive(headers(1, post_fields));
  wire.take_begun();
  respond(1, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n", true);
  flush();
  wire.release(1, Http2Code::no_error);
  const std::vector<Frame> resets = flush(FrameType::rst_stream);
  ASSERT_EQ(resets.size(), 1U);
  EXPECT_EQ(read_big_endian(resets[0].payload), 0U);
}

TEST_F(ClientWireTest, M51_malformed_head_resets_its_stream_and_never_begins) {
  receive(headers(1, {{":method", "GET"}, {":scheme", "http"}, {":path", "/x y"}, {":authority", "a.test"}},
                  end_stream) +
          headers(3, get_fields, end_stream));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{3});
  EXPECT_EQ(wire.take_malformed().size(), 1U);
  const std::vector<Frame> resets = flush(FrameType::rst_stream);
  ASSERT_EQ(resets.size(), 1U);
  EXPECT_EQ(resets[0].stream, 1);
  EXPECT_EQ(read_big_endian(resets[0].payload), static_cast<std::uint32_t>(Http2Code::protocol_error));
}

TEST_F(ClientWireTest, M51_head_that_only_the_library_finds_malformed_is_counted_too) {
  receive(headers(1, {{":method", "GET"}, {":scheme", "http"}, {":authority", "a.test"}}, end_stream));
  EXPECT_TRUE(wire.take_begun().empty());
  EXPECT_EQ(wire.take_malformed().size(), 1U);
  EXPECT_EQ(flush(FrameType::rst_stream).size(), 1U);
  EXPECT_FALSE(wire.failure());
}

TEST_F(ClientWireTest, M116_stream_with_a_lower_id_than_another_ends_the_connection) {
  receive(headers(5, get_fields, end_stream));
  receive(headers(3, get_fields, end_stream));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{5});
  flush();
  ASSERT_TRUE(wire.failure());
  EXPECT_EQ(wire.failure()->code, Http2Code::protocol_error);
}

TEST_F(ClientWireTest, M116_frame_for_a_stream_that_the_client_has_ended_ends_the_connection) {
  for (const std::string& late : {data(1, "x"), headers(1, get_fields, end_stream)}) {
    StreamMemory own{1 << 20};
    ClientWire ended{TargetForm::origin, {{}, 2}, own};
    ended.receive(std::string(client_preface) + settings() + headers(1, get_fields) + rst_stream(1, 8) + late,
                  now);
    ended.output();
    ASSERT_TRUE(ended.failure());
    EXPECT_EQ(ended.failure()->code, Http2Code::stream_closed);
  }
}

TEST_F(ClientWireTest, M116_frame_for_a_closed_stream_ends_the_connection) {
  receive(headers(1, get_fields, end_stream));
  wire.take_begun();
  respond(1, "HTTP/1.1 204 No Content\r\n\r\n", true);
  flush();
  wire.release(1, Http2Code::no_error);
  receive(data(1, "x"));
  flush();
  ASSERT_TRUE(wire.failure());
  EXPECT_EQ(wire.failure()->code, Http2Code::stream_closed);
}

TEST_F(ClientWireTest, M52_data_after_the_end_never_becomes_part_of_a_request) {
  receive(headers(1, get_fields, end_stream) + data(1, "x") + headers(3, get_fields, end_stream));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{1});
  EXPECT_TRUE(wire.take_body(1).empty());
  flush();
  ASSERT_TRUE(wire.failure()) << "libnghttp2 ends the connection, which RFC 9113 5.4.2 allows";
  EXPECT_EQ(wire.failure()->code, Http2Code::stream_closed);
}

TEST_F(ClientWireTest, M92_stream_that_depends_on_itself_ends_the_connection) {
  receive(frame(FrameType::priority, 0, 1, big_endian(3, 4) + "x"));
  EXPECT_FALSE(wire.failure());
  const std::string itself = frame(FrameType::priority, 0, 3, big_endian(3, 4) + "x");
  for (const char byte : itself) receive(std::string_view(&byte, 1));
  flush();
  ASSERT_TRUE(wire.failure());
  EXPECT_EQ(wire.failure()->code, Http2Code::protocol_error);
}

TEST_F(ClientWireTest, M116_priority_without_a_stream_ends_the_connection) {
  receive(frame(FrameType::priority, 0, 0, big_endian(3, 4) + "x"));
  flush();
  EXPECT_TRUE(wire.failure());
}

TEST_F(ClientWireTest, M41_trailers_for_a_stream_that_was_reset_are_ignored) {
  receive(headers(1, post_fields));
  wire.take_begun();
  respond(1, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n", true);
  flush();
  wire.release(1, Http2Code::no_error);
  flush();
  receive(headers(1, {{"x-sum", "7"}}, end_stream) + headers(3, get_fields, end_stream));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{3});
  EXPECT_FALSE(wire.failure());
}

TEST_F(ClientWireTest, M92_stream_that_is_reset_in_the_same_input_does_not_begin) {
  receive(headers(1, get_fields, end_stream) + rst_stream(1, 8));
  EXPECT_TRUE(wire.take_begun().empty());
  EXPECT_EQ(wire.open_streams(), 0U);
}

TEST_F(ClientWireTest, M92_too_many_resets_end_the_connection) {
  for (int i = 0; i < 1001; ++i) {
    const StreamId id = 2 * i + 1;
    receive(headers(id, get_fields, end_stream) + rst_stream(id, 8));
    wire.take_begun();
  }
  flush();
  EXPECT_EQ(wire.flood(), Http2Flood::resets);
  ASSERT_TRUE(wire.failure());
  EXPECT_EQ(wire.failure()->code, Http2Code::enhance_your_calm);
}

TEST_F(ClientWireTest, M92_codes_that_are_passed_on_from_an_upstream_do_not_count) {
  for (int i = 0; i < 2000; ++i) {
    const StreamId id = 2 * i + 1;
    receive(headers(id, get_fields, end_stream));
    for (const StreamId begun : wire.take_begun()) wire.release(begun, Http2Code::protocol_error);
    flush();
  }
  EXPECT_EQ(wire.flood(), std::nullopt);
  EXPECT_FALSE(wire.failure());
}

// libnghttp2 sends these resets by itself.
TEST_F(ClientWireTest, M92_too_many_bodies_of_a_wrong_length_end_the_connection) {
  FieldList fields = post_fields;
  fields.emplace_back("content-length", "2");
  for (int i = 0; i < 1001; ++i) {
    const StreamId id = 2 * i + 1;
    receive(headers(id, fields) + data(id, "abc", end_stream));
    for (const StreamId begun : wire.take_begun()) wire.release(begun);
    flush();
  }
  EXPECT_EQ(wire.flood(), Http2Flood::resets);
  ASSERT_TRUE(wire.failure());
  EXPECT_EQ(wire.failure()->code, Http2Code::enhance_your_calm);
}

TEST_F(ClientWireTest, M92_each_reset_counts_once) {
  FieldList fields = post_fields;
  fields.emplace_back("content-length", "2");
  for (int i = 0; i < 330; ++i) {
    const StreamId id = 6 * i + 1;
    receive(headers(id, fields) + data(id, "abc", end_stream));
    receive(headers(id + 2, {{":method", "GET"}}, end_stream));
    receive(headers(id + 4, {{"Upper", "case"}}, end_stream));
    for (const StreamId begun : wire.take_begun()) wire.release(begun);
    flush();
  }
  EXPECT_FALSE(wire.failure()) << "990 of 1,000 are used";
}

TEST_F(ClientWireTest, M92_streams_that_the_owner_ends_are_no_flood) {
  for (int i = 0; i < 2000; ++i) {
    const StreamId id = 2 * i + 1;
    receive(headers(id, post_fields));
    for (const StreamId begun : wire.take_begun()) {
      respond(begun, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", true);
      flush();
      wire.release(begun, Http2Code::no_error);
    }
  }
  EXPECT_FALSE(wire.failure());
}

TEST_F(ClientWireTest, M94_resets_that_are_not_read_end_the_connection) {
  FieldList fields = post_fields;
  fields.emplace_back("content-length", "2");
  for (int i = 0; i < 4000 && !wire.is_ending(); ++i) {
    const StreamId id = 2 * i + 1;
    now += std::chrono::milliseconds(31);  // the bucket never gets empty
    receive(headers(id, fields) + data(id, "abc", end_stream));
    for (const StreamId begun : wire.take_begun()) wire.release(begun);
  }
  EXPECT_EQ(wire.flood(), Http2Flood::unread_acks);
}

TEST_F(ClientWireTest, M92_resets_at_the_allowed_rate_never_end_the_connection) {
  for (int i = 0; i < 3000; ++i) {
    const StreamId id = 2 * i + 1;
    now += std::chrono::milliseconds(31);
    receive(headers(id, get_fields, end_stream) + rst_stream(id, 8));
    wire.take_begun();
    flush();
  }
  EXPECT_FALSE(wire.failure());
}

TEST_F(ClientWireTest, M93_too_many_pings_end_the_connection) {
  for (int i = 0; i < 2001; ++i) {
    receive(frame(FrameType::ping, 0, 0, "12345678"));
    flush();
  }
  EXPECT_EQ(wire.flood(), Http2Flood::empty_frames);
  EXPECT_TRUE(wire.failure());
}

TEST_F(ClientWireTest, M92_client_that_floods_and_does_not_read_costs_one_goaway) {
  flush();
  for (int i = 0; i < 2100; ++i) receive(frame(FrameType::priority, 0, 1, big_endian(3, 4) + "x"));
  EXPECT_EQ(wire.flood(), Http2Flood::empty_frames);
  EXPECT_EQ(flush(FrameType::goaway).size(), 1U);
}

TEST_F(ClientWireTest, M94_acknowledgements_that_are_not_read_end_the_connection) {
  std::string pings;
  for (int i = 0; i < 1100; ++i) pings += frame(FrameType::ping, 0, 0, "12345678");
  receive(pings);
  EXPECT_EQ(wire.flood(), Http2Flood::unread_acks);
  flush();
  ASSERT_TRUE(wire.failure());
  EXPECT_EQ(wire.failure()->code, Http2Code::enhance_your_calm);
}

TEST_F(ClientWireTest, M93_window_updates_of_a_long_download_are_not_a_flood) {
  download(5000, std::string(16'384, 'x'), window_update(1, 16'384) + window_update(0, 16'384));
  EXPECT_FALSE(wire.failure());
}

TEST_F(ClientWireTest, M93_window_updates_of_a_client_that_reads_4_kib_at_a_time_are_not_a_flood) {
  std::string updates;
  for (int part = 0; part < 4; ++part) updates += window_update(1, 4096) + window_update(0, 4096);
  download(2000, std::string(16'384, 'x'), updates);
  EXPECT_FALSE(wire.failure());
}

TEST_F(ClientWireTest, M93_ping_after_each_message_of_a_call_is_not_a_flood) {
  download(5000, "message",
           frame(FrameType::ping, 0, 0, "12345678") + window_update(1, 7) + window_update(0, 7));
  EXPECT_FALSE(wire.failure());
}

TEST_F(ClientWireTest, M99_stream_above_the_limit_is_refused_and_the_connection_goes_on) {
  receive(frame(FrameType::settings, ack, 0, ""));
  receive(headers(1, get_fields, end_stream) + headers(3, get_fields, end_stream) +
          headers(5, get_fields, end_stream));
  EXPECT_EQ(wire.take_begun(), (std::vector<StreamId>{1, 3}));
  const std::vector<Frame> resets = flush(FrameType::rst_stream);
  ASSERT_EQ(resets.size(), 1U);
  EXPECT_EQ(resets[0].stream, 5);
  EXPECT_EQ(read_big_endian(resets[0].payload), static_cast<std::uint32_t>(Http2Code::refused_stream));
  EXPECT_FALSE(wire.failure());
}

TEST_F(ClientWireTest, M95_header_block_of_too_many_frames_ends_the_connection) {
  const std::string coded = header_block(get_fields);
  receive(frame(FrameType::headers, end_stream, 1, coded.substr(0, 1)));
  for (int i = 0; i < 9; ++i) receive(frame(FrameType::continuation, 0, 1, ""));
  flush();
  EXPECT_EQ(wire.flood(), Http2Flood::header_block);
  EXPECT_TRUE(wire.failure());
}

TEST_F(ClientWireTest, M100_head_is_under_way_from_its_first_frame_to_its_last_byte) {
  const std::string coded = header_block(get_fields);
  const Instant began = now;
  receive(frame(FrameType::headers, end_stream, 1, coded.substr(0, 1)));
  EXPECT_EQ(wire.head_since(), began);
  now += std::chrono::seconds(1);
  const std::string rest = frame(FrameType::continuation, end_headers, 1, coded.substr(1));
  receive(rest.substr(0, rest.size() - 1));
  EXPECT_EQ(wire.head_since(), began);
  receive(rest.substr(rest.size() - 1));
  EXPECT_FALSE(wire.head_since());
  const std::string next = headers(3, get_fields, end_stream) + headers(5, post_fields) + data(5, "abc");
  receive(next.substr(0, next.size() - 1));
  EXPECT_FALSE(wire.head_since()) << "a body is not a head";
}

TEST_F(ClientWireTest, M103_stream_is_refused_while_the_memory_is_used_up) {
  memory.add(1 << 20);
  receive(headers(1, get_fields, end_stream));
  EXPECT_TRUE(wire.take_begun().empty());
  const std::vector<Frame> resets = flush(FrameType::rst_stream);
  ASSERT_EQ(resets.size(), 1U);
  EXPECT_EQ(read_big_endian(resets[0].payload), static_cast<std::uint32_t>(Http2Code::refused_stream));
  memory.add(-(1 << 20));
  receive(headers(3, get_fields, end_stream));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{3});
}

TEST_F(ClientWireTest, M96_head_that_is_too_large_begins_without_a_head) {
  FieldList fields = get_fields;
  for (int i = 0; i < 300; ++i) fields.emplace_back("x-" + std::to_string(i), "v");
  receive(headers(1, fields, end_stream));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{1});
  EXPECT_EQ(wire.message(1).too_large, Rejection::too_many_fields);
  EXPECT_TRUE(wire.message(1).heads.empty());
}

TEST_F(ClientWireTest, M64_goodbye_is_known_once_the_ping_is_acknowledged) {
  flush();
  wire.announce_goodbye();
  const std::vector<Frame> frames = flush();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].type, FrameType::goaway);
  EXPECT_EQ(read_big_endian(frames[0].payload.substr(0, 4)), 0x7fffffffU);
  EXPECT_EQ(frames[1].type, FrameType::ping);
  EXPECT_FALSE(wire.goodbye_is_known());
  receive(headers(1, get_fields, end_stream));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{1}) << "the client did not know yet";
  receive(frame(FrameType::ping, ack, 0, frames[1].payload));
  EXPECT_TRUE(wire.goodbye_is_known());
}

// Without the right order of the subtraction, the sanitizer reports an overflow.
TEST_F(ClientWireTest, highest_id_can_be_followed_by_trailers) {
  constexpr StreamId highest = 0x7fffffff;
  receive(headers(highest, post_fields));
  EXPECT_EQ(wire.take_begun(), std::vector<StreamId>{highest});
  receive(headers(highest, {{"x-sum", "7"}}, end_stream));
  EXPECT_EQ(wire.message(highest).trailers, "x-sum: 7\r\n");
}

TEST_F(ClientWireTest, M42_body_that_is_longer_than_its_length_resets_the_stream) {
  FieldList fields = post_fields;
  fields.emplace_back("content-length", "2");
  receive(headers(1, fields));
  wire.take_begun();
  receive(data(1, "abc", end_stream));
  EXPECT_EQ(flush(FrameType::rst_stream).size(), 1U);
  ASSERT_TRUE(wire.message(1).failure);
  EXPECT_FALSE(wire.message(1).ended);
}

}  // namespace
}  // namespace reprise::http
