// Tests Http2ClientLink against a client that writes single frames to a socket.
#include "proxy/net/streams/http2_client_link.hpp"

#include <array>

#include "tests/support/http2_frames.hpp"
#include "tests/support/loopback.hpp"

namespace reprise::net::http2_client_link_test {
namespace {

using namespace play;

constexpr std::uint32_t connect_error = 10;
constexpr std::uint32_t cancel = 8;

/// A tunnel that a client asks for on stream 1. The client's window for it is 10 bytes.
class Http2ClientLinkTest : public ::testing::Test, protected Http2ClientConnection::Owner {
 protected:
  Http2ClientLinkTest() {
    Pair pair = connect_pair(bench);
    client = std::move(pair.raw);
    Owner& owner = *this;
    connection = std::make_shared<Http2ClientConnection>(std::move(pair.stream), http::TargetForm::absolute,
                                                         http::ClientWire::Limits{}, memory, owner);
    connection->linger_for(Duration::zero());
    connection->begin("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings({{4, 10}}) +
                      headers(1, {{":method", "CONNECT"}, {":authority", "a.test:443"}}));
    link.emplace(connection, 1);
  }
  ~Http2ClientLinkTest() override {
    link.reset();
    connection->forget_owner();
    connection->close();
    turn();
  }
  void serve(http::StreamId id) override { EXPECT_EQ(id, 1); }
  void changed() override {}
  void turn() {
    for (int i = 0; i < 20; ++i) {
      bench.io.restart();
      bench.io.poll();
    }
  }
  /// Sends frames, and waits until the connection has processed them.
  void receive(std::string_view bytes) {
    EXPECT_TRUE(client.send(std::string(bytes) + frame(FrameType::ping, 0, 0, "12345678")));
    EXPECT_TRUE(bench.run_until([&] {
      take_sent();
      return std::exchange(is_acknowledged, false);
    }));
  }
  void take_sent() {
    while (client.read_more(std::chrono::milliseconds(0))) {
    }
    reader.feed(client.take_all());
    for (Frame one; reader.next(one);) {
      if (one.type == FrameType::ping) is_acknowledged = true;
      if (one.type == FrameType::data) body += one.payload;
      if (one.type == FrameType::data || one.type == FrameType::headers)
        has_ended = (one.flags & end_stream) != 0;
      if (one.type == FrameType::rst_stream) reset = read_big_endian(one.payload);
    }
  }
  std::size_t write(std::string_view bytes, ErrorCode& error) {
    const asio::const_buffer part = asio::buffer(bytes);
    error = {};
    return link->write_some({&part, 1}, error);
  }
  Task<std::string> read() {
    std::array<char, 100> room{};
    const auto [error, bytes] = co_await link->read_some(asio::buffer(room));
    co_return error ? error.message() : std::string(room.data(), bytes);
  }
  /// Reads the request, and opens the tunnel.
  void open() {
    EXPECT_TRUE(bench.run(read()).starts_with("CONNECT a.test:443 HTTP/1.1\r\n"));
    ErrorCode error;
    constexpr std::string_view response = "HTTP/1.1 200 OK\r\n\r\n";
    EXPECT_EQ(write(response, error), response.size());
    EXPECT_FALSE(error);
  }

  Bench bench;
  http::StreamMemory memory{1 << 20};
  RawSocket client;
  std::shared_ptr<Http2ClientConnection> connection;
  std::optional<Http2ClientLink> link;
  FrameReader reader;
  std::string body;
  bool has_ended = false;
  bool is_acknowledged = false;
  std::optional<std::uint32_t> reset;
};

TEST_F(Http2ClientLinkTest, M11_bytes_wait_until_the_window_has_let_the_earlier_ones_pass) {
  open();
  ErrorCode error;
  EXPECT_EQ(write("hello, you there", error), 16U);
  EXPECT_EQ(write("more", error), 0U);
  EXPECT_EQ(error, asio::error::would_block);
  receive(window_update(1, 100));
  EXPECT_FALSE(bench.run(link->wait_writable()));
  EXPECT_EQ(write("more", error), 4U);
  receive("");
  EXPECT_EQ(body, "hello, you theremore");
}

TEST_F(Http2ClientLinkTest, M11_link_that_was_cut_reads_and_writes_nothing) {
  open();
  link->cut();
  link->cut();
  ErrorCode error;
  EXPECT_EQ(write("late", error), 0U);
  EXPECT_EQ(error, asio::error::broken_pipe);
  EXPECT_FALSE(bench.run(link->wait_writable()));
  EXPECT_EQ(bench.run(read()), ErrorCode(asio::error::operation_aborted).message());
  link->break_sending();
  link->finish_sending();
  link->close();
  EXPECT_FALSE(link->open());
  EXPECT_EQ(link->presence(), Presence::reset);
  EXPECT_EQ(link->unacknowledged(), 0U);
  receive("");
  EXPECT_EQ(reset, connect_error);
}

TEST_F(Http2ClientLinkTest, M11_nothing_is_written_after_the_end) {
  open();
  link->finish_sending();
  ErrorCode error;
  EXPECT_EQ(write("late", error), 0U);
  EXPECT_EQ(error, asio::error::broken_pipe);
  link->finish_sending();
  receive("");
  EXPECT_TRUE(has_ended);
  EXPECT_EQ(body, "");
}

TEST_F(Http2ClientLinkTest, M11_bytes_of_the_client_are_at_hand_until_they_are_read) {
  EXPECT_EQ(link->unread(), Unread::bytes);
  open();
  EXPECT_EQ(link->unread(), Unread::nothing);
  EXPECT_EQ(link->presence(), Presence::present);
  std::array<char, 100> room{};
  ErrorCode error;
  EXPECT_EQ(link->read_now(asio::buffer(room), error), 0U);
  EXPECT_EQ(error, asio::error::would_block);
  receive(data(1, "hello"));
  EXPECT_EQ(link->unread(), Unread::bytes);
  error = {};
  EXPECT_EQ(link->read_now(asio::buffer(room), error), 5U);
  receive(data(1, "", end_stream));
  EXPECT_EQ(bench.run(read()), ErrorCode(asio::error::eof).message());
  EXPECT_EQ(link->unread(), Unread::closed);
}

TEST_F(Http2ClientLinkTest, M11_reset_of_the_client_ends_reads_and_writes) {
  open();
  receive(rst_stream(1, cancel));
  EXPECT_EQ(bench.run(read()), ErrorCode(asio::error::connection_reset).message());
  std::array<char, 100> room{};
  ErrorCode error;
  EXPECT_EQ(link->read_now(asio::buffer(room), error), 0U);
  EXPECT_EQ(error, asio::error::connection_reset);
  EXPECT_EQ(link->unread(), Unread::closed);
  EXPECT_EQ(write("late", error), 0U);
  EXPECT_TRUE(error);
}

TEST_F(Http2ClientLinkTest, M11_broken_upstream_is_reported_after_the_bytes_before_it) {
  open();
  ErrorCode error;
  EXPECT_EQ(write("hello, you there", error), 16U);
  link->break_sending();
  link->break_sending();
  link->close();
  EXPECT_EQ(reset, std::nullopt);
  receive(window_update(1, 100));
  receive("");
  EXPECT_EQ(body, "hello, you there");
  EXPECT_EQ(reset, connect_error);
}

TEST_F(Http2ClientLinkTest, M11_close_before_a_response_cancels_the_stream) {
  EXPECT_FALSE(link->seems_dead(Duration::zero()));
  EXPECT_EQ(bench.run(link->connect({})), asio::error::already_connected);
  link->finish_sending();
  link->close();
  receive("");
  EXPECT_EQ(reset, cancel);
  EXPECT_EQ(body, "");
}

TEST_F(Http2ClientLinkTest, M11_response_without_a_length_ends_with_the_link) {
  EXPECT_TRUE(bench.run(read()).starts_with("CONNECT "));
  ErrorCode error;
  constexpr std::string_view response = "HTTP/1.1 403 No\r\n\r\nno";
  EXPECT_EQ(write(response, error), response.size());
  link->close();
  receive("");
  EXPECT_EQ(body, "no");
  EXPECT_TRUE(has_ended);
}

TEST_F(Http2ClientLinkTest, M11_response_without_a_body_ends_the_stream_at_once) {
  EXPECT_TRUE(bench.run(read()).starts_with("CONNECT "));
  ErrorCode error;
  constexpr std::string_view interim = "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 30";
  constexpr std::string_view rest = "4 Same\r\n\r\n";
  EXPECT_EQ(write(interim, error), interim.size());
  EXPECT_EQ(write(rest, error), rest.size());
  receive("");
  EXPECT_EQ(bench.run(read()), ErrorCode(asio::error::eof).message());
  EXPECT_TRUE(has_ended);
  EXPECT_EQ(body, "");
}

}  // namespace
}  // namespace reprise::net::http2_client_link_test
