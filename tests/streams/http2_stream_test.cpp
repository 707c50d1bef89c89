// Tests Http2Connection and Http2Stream against an upstream that writes single frames to a socket.
#include "proxy/net/streams/http2_stream.hpp"

#include "proxy/net/ends/read_head.hpp"
#include "proxy/net/io/http2_error.hpp"
#include "tests/support/http2_frames.hpp"
#include "tests/support/loopback.hpp"

namespace reprise::net {
namespace {

using namespace play;

constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: a.test\r\n";
constexpr std::string_view post = "POST /pay HTTP/1.1\r\nHost: a.test\r\n";

class Http2StreamTest : public ::testing::Test {
 protected:
  ~Http2StreamTest() override {
    connection->close();
    drain();
  }
  /// Lets the connection handle everything that has arrived.
  void drain() {
    for (int i = 0; i < 20; ++i) {
      bench.io.restart();
      bench.io.poll();
    }
  }
  void receive(std::string_view bytes) {
    EXPECT_TRUE(upstream.send(bytes));
    EXPECT_TRUE(has_turned());
  }
  /// Sends a PING and waits for its ACK: the connection has then handled every byte before it.
  bool has_turned() {
    EXPECT_TRUE(upstream.send(frame(FrameType::ping, 0, 0, "12345678")));
    return bench.run_until([&] {
      take_sent();
      return std::exchange(is_acknowledged, false);
    });
  }
  /// Moves what the connection has sent from the socket to `sent`.
  void take_sent() {
    while (upstream.read_more(milliseconds(0))) {
    }
    reader.feed(upstream.take_all());
    for (Frame one; reader.next(one);) {
      if (one.type == FrameType::ping) is_acknowledged = true;
      sent.push_back(one);
    }
  }
  /// Returns the frames of that type that the connection has sent on that stream, and forgets all frames.
  /// Precondition: the connection is open.
  std::vector<Frame> sent_of(FrameType type, std::int32_t stream) {
    EXPECT_TRUE(has_turned());
    std::vector<Frame> some;
    for (const Frame& one : std::exchange(sent, {}))
      if (one.type == type && one.stream == stream) some.push_back(one);
    return some;
  }
  void connect(const std::vector<std::pair<unsigned, std::uint32_t>>& entries = {}) {
    receive(settings(entries) + frame(FrameType::settings, ack, 0, ""));
    EXPECT_FALSE(bench.run(connection->ready(Tick::now() + long_enough, wait)));
  }
  static RequestOpening opening(std::string_view head, bool whole = true, std::string_view body = {}) {
    return {head, "\r\n", body, false, whole, {}};
  }
  Task<std::string> read_head(Http2Stream& stream) {
    std::string text;
    std::array<char, 4096> room{};
    while (text.find("\r\n\r\n") == std::string::npos) {
      const auto [error, bytes] = co_await stream.read_some(asio::buffer(room));
      if (error) co_return error.message();
      text.append(room.data(), bytes);
    }
    co_return text;
  }
  Task<std::pair<std::string, BodyStep>> read_body(Http2Stream& stream) {
    std::string text;
    BodyStep step = BodyStep::piece;
    for (;;) {
      std::string_view piece;
      step = co_await stream.next(long_enough, piece);
      if (step != BodyStep::piece) break;
      text += piece;
    }
    co_return std::pair(text, step);
  }
  Task<ErrorCode> read_some(Http2Stream& stream) {
    std::array<char, 16> room{};
    const auto [error, bytes] = co_await stream.read_some(asio::buffer(room));
    co_return error;
  }

  Bench bench;
  Pair pair = connect_pair(bench);
  RawSocket upstream = std::move(pair.raw);
  std::shared_ptr<Http2Connection> connection = Http2Connection::begin(std::move(pair.stream), {});
  Pause wait{bench.io.get_executor()};
  FrameReader reader;
  std::vector<Frame> sent;
  bool is_acknowledged = false;
};

TEST_F(Http2StreamTest, M25_connection_is_ready_only_after_the_settings_of_the_upstream) {
  EXPECT_EQ(bench.run(connection->ready(Tick::now() + milliseconds(1), wait)), asio::error::timed_out);
  EXPECT_EQ(connection->room(), 0U);
  Http2Stream early(connection, "http");
  EXPECT_EQ(early.open(opening(get)), Http2Error::no_room);
  EXPECT_FALSE(early.may_have_sent());
  connect();
  EXPECT_GT(connection->room(), 0U);
  EXPECT_FALSE(early.open(opening(get)));
}

TEST_F(Http2StreamTest, M21_M25_connection_that_ends_before_the_settings_is_never_ready) {
  upstream.finish_sending();
  EXPECT_EQ(bench.run(connection->ready(Tick::now() + long_enough, wait)), asio::error::eof);
}

TEST_F(Http2StreamTest, M21_bytes_of_another_protocol_make_the_connection_fail) {
  upstream.send("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_EQ(bench.run(connection->ready(Tick::now() + long_enough, wait)), Http2Error::not_http2);
  EXPECT_FALSE(connection->is_open());
}

TEST_F(Http2StreamTest, request_and_response_without_bodies) {
  connect();
  Http2Stream stream(connection, "http");
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
  Http2Stream first(connection, "http");
  Http2Stream second(connection, "http");
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
  Http2Stream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(post, false)));
  EXPECT_TRUE(stream.all_sent());
  std::string body;
  for (int i = 0; i < 200'000; ++i) body.push_back(static_cast<char>('a' + i % 26));
  bool over = false;
  ErrorCode error;
  asio::co_spawn(
      bench.io, [&]() -> Task<ErrorCode> { return stream.send_piece(body, long_enough); },
      [&](const std::exception_ptr&, ErrorCode result) {
        over = true;
        error = result;
      });
  std::string received;
  ASSERT_TRUE(bench.run_until([&] {
    take_sent();
    for (const Frame& one : std::exchange(sent, {})) {
      if (one.type != FrameType::data) continue;
      received += one.payload;
      const auto bytes = static_cast<std::uint32_t>(one.payload.size());
      upstream.send(window_update(0, bytes) + window_update(1, bytes));
    }
    return over;
  }));
  EXPECT_FALSE(error);
  EXPECT_FALSE(bench.run(stream.send_end({}, long_enough)));
  for (const Frame& one : sent_of(FrameType::data, 1)) received += one.payload;
  EXPECT_EQ(received, body);
  EXPECT_GT(stream.sent_bytes(), body.size());
}

TEST_F(Http2StreamTest, end_of_a_request_that_was_opened_whole_is_sent_once) {
  connect({{4, 0}});
  Http2Stream stream(connection, "http");
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

TEST_F(Http2StreamTest, M98_upload_whose_window_stays_closed_ends_by_its_limit) {
  connect({{4, 0}});
  Http2Stream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(post, false, "abc")));
  EXPECT_FALSE(stream.all_sent());
  EXPECT_EQ(bench.run(stream.send_rest(milliseconds(1))), asio::error::timed_out);
}

TEST_F(Http2StreamTest, stopped_upload_sends_nothing_more_and_the_response_can_be_read) {
  connect({{4, 0}});
  Http2Stream stream(connection, "http");
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
    Http2Stream stream(connection, "http");
    EXPECT_FALSE(stream.open(opening(get)));
  }
  const std::vector<Frame> resets = sent_of(FrameType::rst_stream, 1);
  ASSERT_EQ(resets.size(), 1U);
  EXPECT_EQ(read_big_endian(resets[0].payload), 8U);
  {
    Http2Stream stream(connection, "http");
    EXPECT_FALSE(stream.open(opening(get)));
    receive(headers(3, {{":status", "204"}}, end_stream));
  }
  EXPECT_TRUE(sent_of(FrameType::rst_stream, 3).empty());
  EXPECT_TRUE(connection->is_open());
  EXPECT_EQ(connection->open_streams(), 0U);
}

TEST_F(Http2StreamTest, M68_to_M70_each_end_of_a_stream_has_its_own_error) {
  connect();
  std::vector<std::unique_ptr<Http2Stream>> streams;
  for (int i = 0; i < 5; ++i) {
    streams.push_back(std::make_unique<Http2Stream>(connection, "http"));
    EXPECT_FALSE(streams.back()->open(opening(get)));
  }
  receive(rst_stream(1, 7) + rst_stream(3, 2) + rst_stream(5, 13) + goaway(7, 0));
  EXPECT_EQ(bench.run(read_some(*streams[0])), Http2Error::refused);
  EXPECT_EQ(bench.run(read_some(*streams[1])), Http2Error::reset);
  EXPECT_EQ(bench.run(read_some(*streams[2])), Http2Error::needs_http1);
  EXPECT_EQ(bench.run(read_some(*streams[4])), Http2Error::above_last_id);
  EXPECT_EQ(connection->room(), 0U);
  upstream.close();
  EXPECT_EQ(bench.run(read_some(*streams[3])), asio::error::eof);
  EXPECT_TRUE(streams[3]->may_have_sent());
}

TEST_F(Http2StreamTest, M58_reset_connection_fails_its_streams) {
  connect();
  Http2Stream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(get)));
  upstream.reset();
  EXPECT_EQ(bench.run(read_some(stream)), asio::error::connection_reset);
  EXPECT_FALSE(connection->is_open());
  EXPECT_EQ(stream.unread(), Unread::closed);
}

TEST_F(Http2StreamTest, body_that_is_cut_is_never_complete) {
  connect();
  Http2Stream reset(connection, "http");
  Http2Stream closed(connection, "http");
  Http2Stream malformed(connection, "http");
  for (Http2Stream* stream : {&reset, &closed, &malformed}) EXPECT_FALSE(stream->open(opening(get)));
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
  Http2Stream stream(connection, "http");
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
  Http2Stream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(post, false)));
  ErrorCode error;
  bool over = false;
  asio::co_spawn(
      bench.io, [&] { return read_some(stream); },
      [&](const std::exception_ptr&, ErrorCode result) {
        over = true;
        error = result;
      });
  drain();
  EXPECT_FALSE(over);
  stream.cancel();
  EXPECT_TRUE(bench.run_until([&] { return over; }));
  EXPECT_EQ(error, asio::error::operation_aborted);
  EXPECT_EQ(bench.run(stream.send_piece("abc", long_enough)), asio::error::operation_aborted);
  EXPECT_TRUE(connection->is_open());
}

TEST_F(Http2StreamTest, stream_outlives_its_connection) {
  connect();
  Http2Stream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(get)));
  connection->close();
  drain();
  EXPECT_EQ(bench.run(read_some(stream)), asio::error::operation_aborted);
  stream.drop();
  EXPECT_TRUE(stream.may_have_sent());
}

}  // namespace
}  // namespace reprise::net
