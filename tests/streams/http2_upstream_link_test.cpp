// Tests Http2UpstreamLink against an upstream that writes single frames to a socket.
#include "proxy/net/streams/http2_upstream_link.hpp"

#include "tests/support/http2_upstream.hpp"

namespace reprise::net {
namespace {

using namespace play;

constexpr std::string_view upgrade =
    "GET /socket HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n";

/// A WebSocket that the upstream has accepted. The upstream's window for it is 4 bytes.
class Http2LinkTest : public Http2Test {
 protected:
  Http2LinkTest() {
    begin();
    connect({{initial_window_size, 4}, {enable_connect_protocol, 1}});
    EXPECT_TRUE(connection->state().permits_websockets());
    stream.emplace(connection, "http");
    stream->ask_websocket();
    EXPECT_FALSE(stream->open(opening(upgrade)));
    receive(headers(1, {{":status", "200"}}));
    EXPECT_EQ(bench.run(read_head(*stream)),
              "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
    link.emplace(*stream);
  }
  std::size_t write(std::string_view bytes, ErrorCode& error) {
    const asio::const_buffer part = asio::buffer(bytes);
    error = {};
    return link->write_some({&part, 1}, error);
  }
  /// Returns the bytes of one read, or the message of its error.
  Task<std::string> read() {
    std::array<char, 4> room{};
    const auto [error, bytes] = co_await link->read_some(asio::buffer(room));
    co_return error ? error.message() : std::string(room.data(), bytes);
  }
  static std::string message(ErrorCode error) { return error.message(); }

  std::optional<Http2UpstreamStream> stream;
  std::optional<Http2UpstreamLink> link;
};

TEST_F(Http2LinkTest, M12_bytes_count_as_written_when_the_window_has_let_all_of_them_pass) {
  ErrorCode error;
  EXPECT_EQ(write("hello you", error), 0U);
  EXPECT_EQ(error, asio::error::would_block);
  EXPECT_EQ(sent_of(FrameType::data, 1).at(0).payload, "hell");
  receive(window_update(1, 6));
  EXPECT_FALSE(bench.run(link->wait_writable()));
  EXPECT_EQ(write("hello you", error), 9U);
  link->finish_sending();
  const std::vector<Frame> rest = sent_of(FrameType::data, 1);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].payload, "o you");
  EXPECT_EQ(rest[1].flags, end_stream);
}

TEST_F(Http2LinkTest, M12_data_is_read_in_order_and_its_end_is_the_end_of_the_bytes) {
  receive(data(1, "hello") + data(1, "you", end_stream));
  EXPECT_EQ(link->unread(), Unread::bytes);
  std::string read_bytes;
  while (read_bytes.size() < 8) read_bytes += bench.run(read());
  EXPECT_EQ(read_bytes, "helloyou");
  EXPECT_EQ(bench.run(read()), message(asio::error::eof));
}

TEST_F(Http2LinkTest, M12_end_of_the_connection_is_a_reset) {
  EXPECT_EQ(link->presence(), Presence::present);
  upstream.finish_sending();
  EXPECT_EQ(bench.run(read()), message(asio::error::connection_reset));
  EXPECT_EQ(link->presence(), Presence::reset);
}

TEST_F(Http2LinkTest, M12_cancel_ends_the_waits_and_the_link_works_on) {
  ErrorCode error;
  EXPECT_EQ(write("hello", error), 0U);
  const auto reading = bench.start(read());
  const auto writing = bench.start(link->wait_writable());
  drain();
  link->cancel();
  EXPECT_TRUE(bench.run_until([&] { return reading->has_value() && writing->has_value(); }));
  EXPECT_EQ(reading->value(), message(asio::error::operation_aborted));
  EXPECT_EQ(writing->value(), asio::error::operation_aborted);
  receive(data(1, "now"));
  EXPECT_EQ(bench.run(read()), "now");
}

TEST_F(Http2LinkTest, M12_bytes_of_a_link_that_has_ended_are_not_sent) {
  ErrorCode error;
  EXPECT_EQ(write("hello", error), 0U);
  link.reset();
  EXPECT_EQ(sent_of(FrameType::data, 1).at(0).payload, "hell");
  receive(window_update(1, 100));
  EXPECT_TRUE(sent_of(FrameType::data, 1).empty());
}

TEST_F(Http2LinkTest, M12_broken_sending_resets_the_stream_and_ends_the_read) {
  const auto reading = bench.start(read());
  drain();
  link->break_sending();
  EXPECT_TRUE(bench.run_until([&] { return reading->has_value(); }));
  EXPECT_EQ(reading->value(), message(asio::error::operation_aborted));
  EXPECT_FALSE(link->open());
  EXPECT_EQ(sent_of(FrameType::rst_stream, 1).size(), 1U);
  ErrorCode error;
  EXPECT_EQ(write("hello", error), 0U);
  EXPECT_EQ(error, asio::error::operation_aborted);
}

}  // namespace
}  // namespace reprise::net
