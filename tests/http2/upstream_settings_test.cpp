// Tests how UpstreamWire obeys the settings and the windows of an upstream (rows M26, M27, M45, M47, M104).
#include <array>

#include "tests/support/http2_wire.hpp"

namespace reprise::http {
namespace {

using namespace play;

class UpstreamSettingsTest : public WireTest {
 protected:
  /// Returns the bytes of the DATA frames, and checks that none is longer than that.
  static std::string body_of(const std::vector<Frame>& frames, std::size_t longest) {
    std::string body;
    for (const Frame& sent : frames) {
      EXPECT_LE(sent.payload.size(), longest);
      if (sent.type == FrameType::data) body += sent.payload;
    }
    return body;
  }
};

TEST_F(UpstreamSettingsTest, M26_lowered_limit_holds_as_soon_as_it_arrives_and_streams_go_on) {
  for (const std::uint32_t limit : {0U, 1U, 3U}) {
    StreamMemory memory{0};
    WireBench bench(memory);
    bench.connect({{max_concurrent_streams, 6}});
    std::vector<StreamId> open(5);
    for (StreamId& id : open) id = bench.ask();
    EXPECT_EQ(bench.wire.room(), 1U);
    bench.wire.receive(settings({{max_concurrent_streams, limit}}));
    EXPECT_EQ(bench.wire.room(), 0U) << "also before the ACK is written";
    bench.flush();
    while (!open.empty()) {
      EXPECT_EQ(bench.wire.room(), open.size() < limit ? limit - open.size() : 0U);
      EXPECT_FALSE(bench.wire.message(open.back()).failure) << "the streams that run are not affected";
      bench.wire.receive(headers(open.back(), {{":status", "204"}}, end_stream));
      EXPECT_TRUE(bench.wire.message(open.back()).ended);
      bench.wire.release(open.back());
      open.pop_back();
    }
    EXPECT_EQ(bench.wire.room(), limit);
    for (std::size_t i = 0; i < limit; ++i) bench.ask();
    EXPECT_EQ(bench.wire.room(), 0U);
  }
}

TEST_F(UpstreamSettingsTest, M26_stream_that_is_given_up_counts_until_its_reset_is_written) {
  connect({{max_concurrent_streams, 1}});
  const StreamId id = ask();
  wire.release(id);
  EXPECT_EQ(wire.room(), 0U) << "the upstream does not know yet that the stream is over";
  flush();
  EXPECT_EQ(wire.room(), 1U);
}

TEST_F(UpstreamSettingsTest, M27_frames_are_as_long_as_the_upstream_allows) {
  const std::string body(60'000, 'x');
  for (const std::uint32_t allowed : {16384U, 20'000U}) {
    StreamMemory memory{0};
    WireBench bench(memory);
    bench.connect({{max_frame_size, allowed}});
    const StreamId id = bench.open(post, false);
    bench.wire.send(id, body);
    bench.wire.end(id, {});
    EXPECT_EQ(body_of(bench.flush(), allowed), body);
  }
}

TEST_F(UpstreamSettingsTest, M27_long_head_is_split_into_frames_that_the_upstream_allows) {
  connect();
  open("GET / HTTP/1.1\r\nHost: a.test\r\nX: " + std::string(40'000, '~') + "\r\n\r\n");
  const std::vector<Frame> frames = flush();
  ASSERT_GE(frames.size(), 3U);
  EXPECT_EQ(frames[0].type, FrameType::headers);
  EXPECT_EQ(frames[1].type, FrameType::continuation);
  for (const Frame& sent : frames) EXPECT_LE(sent.payload.size(), 16384U);
}

TEST_F(UpstreamSettingsTest, M27_header_table_of_size_0_is_not_used) {
  connect({{header_table_size, 0}});
  open();
  const std::vector<Frame> first = flush();
  open();
  const std::vector<Frame> second = flush();
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(static_cast<unsigned char>(first[0].payload[0]), 0x20U) << "table size update to 0";
  EXPECT_EQ(second[0].payload.size(), first[0].payload.size() - 1) << "no field was indexed";
}

TEST_F(UpstreamSettingsTest, M27_initial_window_of_0_stops_the_body_until_it_is_opened) {
  connect({{initial_window_size, 0}});
  const StreamId id = open(post, false);
  wire.send(id, "abcdefgh");
  EXPECT_EQ(body_of(flush(), 16384), "");
  wire.receive(window_update(id, 3));
  EXPECT_EQ(body_of(flush(), 16384), "abc");
  wire.receive(settings({{initial_window_size, 2}}));
  EXPECT_EQ(body_of(flush(), 16384), "de");
  wire.receive(settings({{initial_window_size, 0}}) + window_update(id, 1));
  EXPECT_EQ(body_of(flush(), 16384), "") << "the window is -1";
  wire.receive(settings({{initial_window_size, 100}}));
  EXPECT_EQ(body_of(flush(), 16384), "fgh");
  EXPECT_TRUE(wire.all_written(id));
}

TEST_F(UpstreamSettingsTest, M27_head_above_the_header_list_size_is_sent_all_the_same) {
  connect({{max_header_list_size, 10}});
  const StreamId id = ask();
  EXPECT_TRUE(wire.may_have_sent(id));
  wire.receive(headers(id, {{":status", "431"}}, end_stream));
  EXPECT_TRUE(wire.message(id).ended);
}

TEST_F(UpstreamSettingsTest, M45_empty_frames_and_single_bytes_are_read_with_the_same_number_of_updates) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "200"}}));
  std::size_t updates = 0;
  std::string body;
  for (int i = 0; i < 20'000; ++i) {
    wire.receive(data(id, "") + data(id, "x"));
    body += pass_on(id);
    for (const Frame& sent : flush()) updates += sent.stream == id ? 1 : 0;
  }
  wire.receive(data(id, "", end_stream));
  EXPECT_EQ(body, std::string(20'000, 'x'));
  EXPECT_TRUE(wire.message(id).ended);
  EXPECT_EQ(updates, 20'000 / (StreamWindow::least / 2)) << "one for half a window";
}

TEST_F(UpstreamSettingsTest, M45_padding_counts_for_the_windows_and_is_given_back) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "200"}}));
  const std::string padding(255, '\0');
  std::uint64_t given_back = 0;
  for (int i = 0; i < 1000; ++i) {
    wire.receive(frame(FrameType::data, padded, id,
                       "\xff"
                       "x" +
                           padding));
    pass_on(id);
    for (const Frame& sent : flush()) given_back += sent.stream == id ? read_big_endian(sent.payload) : 0;
  }
  EXPECT_GE(given_back, 1000U * 257 - StreamWindow::least);
  EXPECT_FALSE(wire.failure());
}

TEST_F(UpstreamSettingsTest, M45_frame_that_is_longer_than_allowed_ends_the_connection) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "200"}}));
  wire.receive(std::string("\xff\xff\xff\0\0\0\0\0\x01", 9));
  bool goes_away = false;
  for (const Frame& sent : flush()) {
    if (sent.type != FrameType::goaway) continue;
    goes_away = true;
    EXPECT_EQ(read_big_endian(std::string_view(sent.payload).substr(4, 4)), 6U) << "FRAME_SIZE_ERROR";
  }
  EXPECT_TRUE(goes_away);
  EXPECT_TRUE(wire.failure());
  EXPECT_TRUE(wire.message(id).failure);
}

TEST_F(UpstreamSettingsTest, M47_values_of_a_response_pass_unchanged) {
  connect();
  const StreamId id = ask();
  const std::string value(8192, 'v');
  FieldList fields = {{":status", "200"}, {"a", "\xc3\xa4\xff"}, {"b", ""}, {"c", value}};
  std::string head = "HTTP/1.1 200 OK\r\na: \xc3\xa4\xff\r\nb: \r\nc: " + value + "\r\n";
  for (int i = 0; i < 60; ++i) {
    fields.emplace_back("set-cookie", "n" + std::to_string(i) + "=v; Path=/");
    head += "set-cookie: n" + std::to_string(i) + "=v; Path=/\r\n";
  }
  wire.receive(headers(id, fields, end_stream));
  EXPECT_EQ(wire.message(id).heads, head + "\r\n");
}

TEST_F(UpstreamSettingsTest, M47_credentials_and_short_cookies_never_enter_a_table) {
  constexpr std::string_view head =
      "GET / HTTP/1.1\r\nHost: a.test\r\nAuthorization: Bearer abcdefghijklmnop\r\nCookie: a=1\r\n"
      "X-Plain: abcdefghijklmnopqrstuvwxyz\r\n\r\n";
  connect();
  std::array<std::string, 2> blocks;
  for (std::string& each : blocks) {
    open(head);
    const std::vector<Frame> frames = flush();
    ASSERT_EQ(frames.size(), 1U);
    each = frames[0].payload;
    const FieldList fields = reader.fields(frames[0]);
    EXPECT_EQ(fields[4], std::pair(std::string("authorization"), std::string("Bearer abcdefghijklmnop")));
    EXPECT_EQ(fields[5], std::pair(std::string("cookie"), std::string("a=1")));
  }
  // Literal never indexed (RFC 7541 6.2.3) with the names 23 (authorization) and 32 (cookie) of the static
  // table.
  for (const std::string& each : blocks) {
    EXPECT_NE(each.find("\x1f\x08"), std::string::npos);
    EXPECT_NE(each.find("\x1f\x11"), std::string::npos);
  }
  EXPECT_LT(blocks[1].size() + 20, blocks[0].size()) << "the other field was indexed";
}

TEST_F(UpstreamSettingsTest, M104_window_updates_are_sent_for_half_a_window) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "200"}}));
  const std::string piece(1024, 'x');
  std::size_t updates = 0;
  for (int i = 0; i < 64; ++i) {
    wire.receive(data(id, piece));
    pass_on(id);
    updates += flush().size();
  }
  EXPECT_EQ(updates, 64 * piece.size() / (StreamWindow::least / 2));
}

}  // namespace
}  // namespace reprise::http
