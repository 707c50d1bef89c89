// Tests how an Http2UpstreamConnection begins, who is notified of its changes, and how its end reaches its
// streams.
#include "proxy/net/streams/http2_upstream_connection.hpp"

#include "proxy/net/io/http2_error.hpp"
#include "tests/support/http2_upstream.hpp"

namespace reprise::net {
namespace {

using namespace play;

class Http2ConnectionTest : public Http2Test {
 protected:
  Http2ConnectionTest() { begin(); }

  Task<ErrorCode> ready(Duration limit) { return connection->ready(Tick::now() + limit, wait); }
};

TEST_F(Http2ConnectionTest, M25_connection_is_ready_only_after_the_settings_of_the_upstream) {
  EXPECT_EQ(bench.run(ready(milliseconds(1))), asio::error::timed_out);
  EXPECT_EQ(connection->room(), 0U);
  Http2UpstreamStream early(connection, "http");
  EXPECT_EQ(early.open(opening(get)), Http2Error::no_room);
  EXPECT_FALSE(early.may_have_sent());
  connect();
  EXPECT_GT(connection->room(), 0U);
  EXPECT_FALSE(early.open(opening(get)));
}

TEST_F(Http2ConnectionTest, M21_M25_connection_that_is_closed_before_the_settings_is_never_ready) {
  upstream.finish_sending();
  EXPECT_EQ(bench.run(ready(long_enough)), asio::error::eof);
}

TEST_F(Http2ConnectionTest, M21_M25_connection_that_is_reset_before_the_settings_is_never_ready) {
  upstream.reset();
  EXPECT_EQ(bench.run(ready(long_enough)), asio::error::connection_reset);
}

TEST_F(Http2ConnectionTest, M21_bytes_of_another_protocol_make_the_connection_fail) {
  upstream.send("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_EQ(bench.run(ready(long_enough)), Http2Error::not_http2);
  EXPECT_FALSE(connection->is_open());
}

TEST_F(Http2ConnectionTest, M25_goaway_before_the_settings_is_not_http2) {
  upstream.send(goaway(0, 0));
  EXPECT_EQ(bench.run(ready(long_enough)), Http2Error::not_http2);
}

TEST_F(Http2ConnectionTest, M25_goaway_after_the_settings_leaves_no_room) {
  upstream.send(settings() + goaway(0, 0));
  EXPECT_FALSE(bench.run(ready(long_enough)));
  EXPECT_TRUE(connection->state().going_away());
  EXPECT_EQ(connection->room(), 0U);
}

TEST_F(Http2ConnectionTest, violation_after_the_settings_is_not_taken_for_another_protocol) {
  connect();
  upstream.send("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_TRUE(bench.run_until([&] { return !connection->is_open(); }));
  EXPECT_EQ(bench.run(ready(long_enough)), Http2Error::malformed);
}

TEST_F(Http2ConnectionTest, cancelled_wait_for_the_settings_is_aborted) {
  const auto result = bench.start(ready(long_enough));
  drain();
  EXPECT_FALSE(result->has_value());
  wait.cancel();
  EXPECT_TRUE(bench.run_until([&] { return result->has_value(); }));
  EXPECT_EQ(result->value(), asio::error::operation_aborted);
  EXPECT_TRUE(connection->is_open()) << "only the wait has ended";
  connect();
}

TEST_F(Http2ConnectionTest, bytes_that_were_read_early_belong_to_the_connection) {
  connection->close();
  drain();
  const std::string all = settings({{3, 7}}) + frame(FrameType::ping, 0, 0, "abcdefgh");
  begin(std::string_view(all).substr(0, 12));
  receive(std::string_view(all).substr(12));
  EXPECT_FALSE(bench.run(ready(long_enough)));
  EXPECT_EQ(connection->room(), 7U);
  std::size_t echoes = 0;
  for (const Frame& one : std::exchange(sent, {}))
    echoes += one.type == FrameType::ping && one.payload == "abcdefgh" ? 1 : 0;
  EXPECT_EQ(echoes, 1U);
}

TEST_F(Http2ConnectionTest, whole_settings_that_were_read_early_make_the_connection_ready_at_once) {
  connection->close();
  drain();
  begin(settings());
  EXPECT_GT(connection->room(), 0U);
}

TEST_F(Http2ConnectionTest, listener_is_called_if_room_changes_and_when_the_connection_ends) {
  connect({{3, 1}});
  std::vector<std::size_t> rooms;
  bool was_open = true;
  connection->set_listener([&] {
    rooms.push_back(connection->room());
    was_open = connection->is_open();
  });
  Http2UpstreamStream stream(connection, "http");
  EXPECT_FALSE(stream.open(opening(get)));
  EXPECT_EQ(connection->room(), 0U);
  receive(headers(1, {{":status", "204"}}, end_stream));
  ASSERT_FALSE(rooms.empty());
  EXPECT_EQ(rooms.back(), 1U);
  receive(settings({{3, 4}}));
  EXPECT_EQ(rooms.back(), 4U);
  upstream.send(goaway(1, 0));
  EXPECT_TRUE(bench.run_until([&] { return rooms.back() == 0; }));
  EXPECT_TRUE(was_open);
  upstream.close();
  EXPECT_TRUE(bench.run_until([&] { return !was_open; }));
}

TEST_F(Http2ConnectionTest, listener_may_set_another_listener) {
  connect();
  int calls = 0;
  connection->set_listener([&] { connection->set_listener([&] { ++calls; }); });
  receive(settings());
  receive(settings());
  EXPECT_GT(calls, 0);
  connection->set_listener(nullptr);
}

TEST_F(Http2ConnectionTest, M68_to_M70_each_end_of_a_stream_has_its_own_error) {
  connect();
  std::vector<std::unique_ptr<Http2UpstreamStream>> streams;
  for (int i = 0; i < 5; ++i) {
    streams.push_back(std::make_unique<Http2UpstreamStream>(connection, "http"));
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

TEST_F(Http2ConnectionTest, M70_reset_with_any_other_code_may_have_been_processed) {
  connect();
  const std::vector<std::uint32_t> codes = {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 0x1234};
  std::int32_t id = -1;
  for (const std::uint32_t code : codes) {
    id += 2;
    Http2UpstreamStream stream(connection, "http");
    EXPECT_FALSE(stream.open(opening(post, false)));
    receive(rst_stream(id, code));
    EXPECT_EQ(bench.run(read_some(stream)), Http2Error::reset) << code;
    ASSERT_TRUE(stream.failure()) << code;
    EXPECT_EQ(static_cast<std::uint32_t>(stream.failure()->code), code);
    EXPECT_TRUE(stream.may_have_sent()) << code;
    EXPECT_FALSE(stream.failure()->responded) << code;
    EXPECT_EQ(bench.run(stream.send_piece("abc", long_enough)), Http2Error::reset) << code;
  }
  EXPECT_TRUE(connection->is_open());
}

TEST_F(Http2ConnectionTest, M56_goaway_with_an_error_code_ends_streams_only_above_its_last_id) {
  connect();
  Http2UpstreamStream low(connection, "http");
  Http2UpstreamStream high(connection, "http");
  EXPECT_FALSE(low.open(opening(get)));
  EXPECT_FALSE(high.open(opening(get)));
  upstream.send(goaway(1, 11) + headers(1, {{":status", "204"}}, end_stream));
  EXPECT_EQ(bench.run(read_some(high)), Http2Error::above_last_id);
  EXPECT_EQ(bench.run(read_head(low)), "HTTP/1.1 204 No Content\r\n\r\n");
}

}  // namespace
}  // namespace reprise::net
