// Tests Http2UpstreamConnection and Http2UpstreamStream against an upstream that writes single frames to a
// socket.
#include "proxy/net/streams/http2_upstream_stream.hpp"

#include "proxy/net/ends/read_head.hpp"
#include "proxy/net/io/http2_error.hpp"
#include "tests/support/http2_upstream.hpp"

namespace reprise::net {
namespace {

using namespace play;

class Http2StreamTest : public Http2Test {
 protected:
  Http2StreamTest() { begin(); }
};

TEST_F(Http2StreamTest, request_and_response_without_bodies) {
  connect();
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(get)));
  EXPECT_TRUE(stream.all_sent());
  EXPECT_TRUE(stream.may_have_sent());
  const std::vector<Frame> heads = sent_of(FrameType::headers, 1);
  ASSERT_EQ(heads.size(), 1U);
  EXPECT_EQ(reader.fields(heads[0]),
            (FieldList{{":method", "GET"}, {":scheme", "http"}, {":authority", "a.test"}, {":path", "/"}}));
  receive(headers(1, {{":status", "204"}}, end_stream));
  EXPECT_EQ(bench.run(read_head(stream)), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(bench.run(read_body(stream)), std::pair(std::string(), BodyStep::end));
  EXPECT_TRUE(stream.complete());
}

TEST_F(Http2StreamTest, streams_of_one_connection_do_not_wait_for_each_other) {
  connect();
  Http2UpstreamStream first(connection, "http");
  Http2UpstreamStream second(connection, "http");
  EXPECT_FALSE(first.open(opening(get)));
  EXPECT_FALSE(second.open(opening(get)));
  receive(headers(3, {{":status", "200"}}) + data(3, "second", end_stream));
  EXPECT_EQ(bench.run(read_head(second)), "HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(bench.run(read_body(second)).first, "second");
  receive(headers(1, {{":status", "200"}}) + data(1, "first") + headers(1, {{"x-sum", "7"}}, end_stream));
  EXPECT_EQ(bench.run(read_head(first)), "HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(bench.run(read_body(first)).first, "first");
  EXPECT_EQ(first.trailers(), "x-sum: 7\r\n");
}

TEST_F(Http2StreamTest, M48_long_body_is_sent_as_the_windows_allow) {
  connect();
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(post, false)));
  EXPECT_TRUE(stream.all_sent());
  std::string body;
  for (int i = 0; i < 200'000; ++i) body.push_back(static_cast<char>('a' + i % 26));
  const auto result = bench.start(stream.send_piece(body, long_enough));
  std::string received;
  ASSERT_TRUE(bench.run_until([&] {
    take_sent();
    for (const Frame& one : std::exchange(sent, {})) {
      if (one.type != FrameType::data) continue;
      received += one.payload;
      const auto bytes = static_cast<std::uint32_t>(one.payload.size());
      upstream.send(window_update(0, bytes) + window_update(1, bytes));
    }
    return result->has_value();
  }));
  EXPECT_FALSE(result->value());
  EXPECT_FALSE(bench.run(stream.send_end({}, long_enough)));
  for (const Frame& one : sent_of(FrameType::data, 1)) received += one.payload;
  EXPECT_EQ(received, body);
  EXPECT_GT(stream.sent_bytes(), body.size());
}

TEST_F(Http2StreamTest, end_of_a_request_that_was_opened_whole_is_sent_once) {
  connect({{4, 0}});
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(post, true, "abc")));
  EXPECT_FALSE(stream.all_sent());
  receive(window_update(1, 100));
  EXPECT_FALSE(bench.run(stream.send_rest(long_enough)));
  EXPECT_FALSE(bench.run(stream.send_end({}, long_enough)));
  const std::vector<Frame> pieces = sent_of(FrameType::data, 1);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].payload, "abc");
  EXPECT_EQ(pieces[0].flags, end_stream);
}

TEST_F(Http2StreamTest, upload_ends_when_its_stream_is_dropped) {
  connect();
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(post, false)));
  stream.drop();
  EXPECT_EQ(bench.run(stream.send_piece("abc", long_enough)), asio::error::operation_aborted);
  EXPECT_EQ(bench.run(stream.send_end({}, long_enough)), asio::error::operation_aborted);
}

TEST_F(Http2StreamTest, M98_upload_whose_window_stays_closed_ends_by_its_limit) {
  connect({{4, 0}});
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(post, false, "abc")));
  EXPECT_FALSE(stream.all_sent());
  EXPECT_EQ(bench.run(stream.send_rest(milliseconds(1))), asio::error::timed_out);
}

TEST_F(Http2StreamTest, stopped_upload_sends_nothing_more_and_the_response_can_be_read) {
  connect({{4, 0}});
  Http2UpstreamStream stream(connection, "http");
  {
    const std::string body = "abc";
    EXPECT_FALSE(stream.open(opening(post, false, body)));
    stream.end_sending();
  }
  receive(window_update(1, 100));
  EXPECT_TRUE(sent_of(FrameType::data, 1).empty());
  EXPECT_EQ(bench.run(stream.send_piece("def", long_enough)), asio::error::operation_aborted);
  receive(headers(1, {{":status", "413"}}, end_stream));
  EXPECT_EQ(bench.run(read_head(stream)), "HTTP/1.1 413 Content Too Large\r\n\r\n");
}

TEST_F(Http2StreamTest, M66_destroyed_stream_is_reset_with_cancel_unless_it_is_complete) {
  connect();
  {
    Http2UpstreamStream stream(connection, "http");
    EXPECT_FALSE(stream.open(opening(get)));
  }
  const std::vector<Frame> resets = sent_of(FrameType::rst_stream, 1);
  ASSERT_EQ(resets.size(), 1U);
  EXPECT_EQ(read_big_endian(resets[0].payload), 8U);
  {
    Http2UpstreamStream stream(connection, "http");
    EXPECT_FALSE(stream.open(opening(get)));
    receive(headers(3, {{":status", "204"}}, end_stream));
  }
  EXPECT_TRUE(sent_of(FrameType::rst_stream, 3).empty());
  EXPECT_TRUE(connection->is_open());
  EXPECT_EQ(connection->open_streams(), 0U);
}

TEST_F(Http2StreamTest, body_that_is_cut_is_never_complete) {
  connect();
  Http2UpstreamStream reset(connection, "http");
  Http2UpstreamStream closed(connection, "http");
  Http2UpstreamStream malformed(connection, "http");
  for (Http2UpstreamStream* stream : {&reset, &closed, &malformed}) EXPECT_FALSE(stream->open(opening(get)));
  receive(headers(1, {{":status", "200"}}) + data(1, "abc") + rst_stream(1, 0) +
          headers(3, {{":status", "200"}}) + data(3, "abc") +
          headers(5, {{":status", "200"}, {"content-length", "5"}}) + data(5, "abc", end_stream));
  EXPECT_EQ(bench.run(read_body(reset)), std::pair(std::string("abc"), BodyStep::failed));
  EXPECT_EQ(bench.run(read_body(malformed)), std::pair(std::string("abc"), BodyStep::malformed));
  upstream.close();
  EXPECT_EQ(bench.run(read_body(closed)), std::pair(std::string("abc"), BodyStep::closed));
}

TEST_F(Http2StreamTest, read_limit_ends_only_the_read_that_it_was_set_for) {
  connect();
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(get)));
  stream.limit_read(milliseconds(1));
  EXPECT_EQ(bench.run(read_some(stream)), asio::error::operation_aborted);
  EXPECT_TRUE(stream.take_limit_hit());
  stream.end_limit();
  receive(headers(1, {{":status", "200"}}));
  EXPECT_EQ(bench.run(read_head(stream)), "HTTP/1.1 200 OK\r\n\r\n");
  std::string_view piece;
  EXPECT_EQ(bench.run(stream.next(milliseconds(1), piece)), BodyStep::stalled);
  receive(data(1, "abc", end_stream));
  EXPECT_EQ(bench.run(read_body(stream)), std::pair(std::string("abc"), BodyStep::end));
}

TEST_F(Http2StreamTest, cancelled_stream_ends_every_wait_and_leaves_the_connection_open) {
  connect();
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(post, false)));
  const auto result = bench.start(read_some(stream));
  drain();
  EXPECT_FALSE(result->has_value());
  stream.cancel();
  EXPECT_TRUE(bench.run_until([&] { return result->has_value(); }));
  EXPECT_EQ(result->value(), asio::error::operation_aborted);
  EXPECT_EQ(bench.run(stream.send_piece("abc", long_enough)), asio::error::operation_aborted);
  EXPECT_TRUE(connection->is_open());
}

TEST_F(Http2StreamTest, stream_outlives_its_connection) {
  connect();
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(get)));
  connection->close();
  drain();
  EXPECT_EQ(bench.run(read_some(stream)), asio::error::operation_aborted);
  stream.drop();
  EXPECT_TRUE(stream.may_have_sent());
}

TEST_F(Http2StreamTest, M41_reset_after_a_complete_response_ends_only_the_upload) {
  for (const std::uint32_t code : {0U, 2U, 8U}) {
    begin();
    connect();
    Http2UpstreamStream stream(connection, "http");
    EXPECT_FALSE(stream.open(opening(post, false)));
    EXPECT_FALSE(bench.run(stream.send_piece("abc", long_enough)));
    receive(headers(1, {{":status", "413"}}) + data(1, "no", end_stream));
    EXPECT_FALSE(bench.run(stream.send_piece("def", long_enough))) << "the stream is half open";
    receive(rst_stream(1, code));
    EXPECT_TRUE(bench.run(stream.wait_for_end())) << code;
    EXPECT_EQ(bench.run(stream.send_piece("ghi", long_enough)), Http2Error::reset) << code;
    EXPECT_EQ(bench.run(stream.send_end({}, long_enough)), Http2Error::reset) << code;
    EXPECT_EQ(bench.run(read_head(stream)), "HTTP/1.1 413 Content Too Large\r\n\r\n") << code;
    EXPECT_EQ(bench.run(read_body(stream)), std::pair(std::string("no"), BodyStep::end)) << code;
    EXPECT_TRUE(stream.complete());
    EXPECT_FALSE(stream.failure());
    stream.drop();
    EXPECT_TRUE(sent_of(FrameType::rst_stream, 1).empty()) << "the stream is over on both sides";
    connection->close();
    drain();
    reader = {};
    sent.clear();
  }
  begin();
}

TEST_F(Http2StreamTest, M41_reset_ends_a_send_that_waits_for_the_window) {
  connect({{4, 0}});
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(post, false)));
  const auto result = bench.start(stream.send_piece("abc", long_enough));
  receive(headers(1, {{":status", "200"}}, end_stream));
  EXPECT_FALSE(result->has_value()) << "the upstream may still read the request";
  receive(rst_stream(1, 0));
  EXPECT_TRUE(bench.run_until([&] { return result->has_value(); }));
  EXPECT_EQ(result->value(), Http2Error::reset);
  EXPECT_TRUE(stream.complete());
}

TEST_F(Http2StreamTest, wait_for_end_returns_when_both_sides_have_ended) {
  connect();
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(post, false)));
  const auto result = bench.start(stream.wait_for_end());
  receive(headers(1, {{":status", "204"}}, end_stream));
  EXPECT_FALSE(result->has_value()) << "the request has not ended";
  EXPECT_FALSE(bench.run(stream.send_end({}, long_enough)));
  receive("");
  EXPECT_TRUE(bench.run_until([&] { return result->has_value(); }));
}

TEST_F(Http2StreamTest, M56_goaway_below_a_stream_that_responds_does_not_prove_that_it_was_not_processed) {
  connect();
  Http2UpstreamStream stream(connection, "http");
  Http2UpstreamStream silent(connection, "http");
  EXPECT_FALSE(stream.open(opening(get)));
  EXPECT_FALSE(silent.open(opening(get)));
  upstream.send(headers(1, {{":status", "200"}}) + data(1, "ab") + goaway(0, 0));
  EXPECT_EQ(bench.run(read_some(silent)), Http2Error::above_last_id);
  EXPECT_FALSE(silent.failure()->responded);
  EXPECT_EQ(bench.run(read_head(stream)), "HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(bench.run(read_body(stream)), std::pair(std::string("ab"), BodyStep::failed));
  ASSERT_TRUE(stream.failure());
  EXPECT_EQ(stream.failure()->kind, http::Http2Failure::Kind::above_last_id);
  EXPECT_TRUE(stream.failure()->responded);
}

TEST_F(Http2StreamTest, B10_unread_interim_heads_are_bounded_and_then_fail_the_stream) {
  connect();
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(get)));
  std::string flood;
  for (int i = 0; i < 1000; ++i) flood += headers(1, {{":status", "103"}});
  receive(flood);
  EXPECT_LE(memory.held(), std::size_t{100} * 40);
  EXPECT_EQ(bench.run(read_some(stream)), Http2Error::malformed);
  const std::vector<Frame> resets = sent_of(FrameType::rst_stream, 1);
  EXPECT_EQ(resets.size(), 1U);
  EXPECT_TRUE(connection->is_open());
}

TEST_F(Http2StreamTest, M103_window_is_given_back_when_the_reader_asks_for_the_next_piece) {
  connect();
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(get)));
  const std::string piece(http::StreamWindow::least, 'x');
  receive(headers(1, {{":status", "200"}}) + data(1, piece));
  std::string_view read;
  EXPECT_EQ(bench.run(stream.next(long_enough, read)), BodyStep::piece);
  EXPECT_EQ(read.size(), piece.size());
  EXPECT_TRUE(sent_of(FrameType::window_update, 1).empty()) << "the piece may still have to be sent";
  EXPECT_GE(memory.held(), piece.size());
  BodyStep step = BodyStep::piece;
  EXPECT_FALSE(stream.take_at_hand(step, read));
  EXPECT_TRUE(sent_of(FrameType::window_update, 1).empty()) << "the reader gathers pieces";
  EXPECT_EQ(bench.run(stream.next(milliseconds(1), read)), BodyStep::stalled);
  EXPECT_EQ(sent_of(FrameType::window_update, 1).size(), 1U);
  receive(data(1, "abc", end_stream));
  EXPECT_EQ(bench.run(read_body(stream)), std::pair(std::string("abc"), BodyStep::end));
  stream.drop();
  EXPECT_EQ(memory.held(), 0U);
}

TEST_F(Http2StreamTest, M104_window_of_the_connection_is_not_lost_with_a_stream_that_ends_early) {
  connect();
  const std::string piece(http::StreamWindow::least, 'x');
  std::uint64_t received = 0;
  for (std::int32_t id = 1; received <= http::UpstreamWire::connection_window; id += 2) {
    Http2UpstreamStream stream(connection, "http");
    EXPECT_FALSE(stream.open(opening(get)));
    receive(headers(id, {{":status", "200"}}) + data(id, piece));
    received += piece.size();
  }
  std::uint64_t given_back = 0;
  for (const Frame& one : sent)
    if (one.type == FrameType::window_update && one.stream == 0) given_back += read_big_endian(one.payload);
  EXPECT_GE(given_back, http::UpstreamWire::connection_window / 2);
  EXPECT_TRUE(connection->is_open());
}

TEST_F(Http2StreamTest, M105_blocked_uploads_do_not_stop_responses) {
  // The upstream reads nothing, so that the kernel takes no more bytes of the uploads.
  connect({{4, 0x7fffffff}});
  upstream.send(window_update(0, 0x7fffffff - 65535));
  Http2UpstreamStream upload(connection, "http");
  EXPECT_FALSE(upload.open(opening(post, false)));
  Http2UpstreamStream other(connection, "http");
  EXPECT_FALSE(other.open(opening(get)));
  drain();
  const std::string body(std::size_t{16} * 1024 * 1024, 'x');
  const auto result = bench.start(upload.send_piece(body, long_enough));
  drain();
  EXPECT_FALSE(result->has_value());
  EXPECT_FALSE(upload.all_sent());
  EXPECT_TRUE(upstream.send(headers(3, {{":status", "200"}}) + data(3, "other", end_stream) +
                            headers(1, {{":status", "200"}}) + data(1, "early")));
  EXPECT_EQ(bench.run(read_head(other)), "HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(bench.run(read_body(other)), std::pair(std::string("other"), BodyStep::end));
  EXPECT_EQ(bench.run(read_head(upload)), "HTTP/1.1 200 OK\r\n\r\n");
  std::string_view piece;
  EXPECT_EQ(bench.run(upload.next(long_enough, piece)), BodyStep::piece);
  EXPECT_EQ(piece, "early");
  EXPECT_FALSE(result->has_value()) << "the upload is still blocked";
  EXPECT_TRUE(bench.run_until([&] {
    take_sent();
    return result->has_value();
  }));
  EXPECT_FALSE(result->value());
}

TEST_F(Http2StreamTest, M105_upload_that_waits_for_its_window_does_not_stop_its_response_or_another_upload) {
  connect({{4, 0}});
  Http2UpstreamStream blocked(connection, "http");
  EXPECT_FALSE(blocked.open(opening(post, false, "abc")));
  Http2UpstreamStream other(connection, "http");
  EXPECT_FALSE(other.open(opening(post, false, "def")));
  receive(window_update(3, 100) + headers(1, {{":status", "200"}}) + data(1, "x"));
  EXPECT_FALSE(blocked.all_sent());
  EXPECT_TRUE(other.all_sent());
  EXPECT_EQ(bench.run(read_head(blocked)), "HTTP/1.1 200 OK\r\n\r\n");
  receive(window_update(1, 100));
  EXPECT_TRUE(blocked.all_sent());
}

}  // namespace
}  // namespace reprise::net
