// For tests of Http2UpstreamConnection and Http2UpstreamStream: an upstream that writes single frames to a
// socket.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/net/streams/http2_upstream_stream.hpp"
#include "tests/support/http2_frames.hpp"
#include "tests/support/loopback.hpp"

namespace reprise::net {

inline constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: a.test\r\n";
inline constexpr std::string_view post = "POST /pay HTTP/1.1\r\nHost: a.test\r\n";

/// A connection under test, and its upstream on the other end of the socket.
class Http2Test : public ::testing::Test {
 protected:
  ~Http2Test() override {
    connection->close();
    drain();
  }
  /// Begins the connection. `early`: bytes of the upstream that were already read.
  void begin(std::string_view early = {}) {
    Pair pair = connect_pair(bench);
    upstream = std::move(pair.raw);
    connection = Http2UpstreamConnection::begin(std::move(pair.stream), {}, memory, early);
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
    EXPECT_TRUE(upstream.send(play::frame(play::FrameType::ping, 0, 0, "12345678")));
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
    for (play::Frame one; reader.next(one);) {
      if (one.type == play::FrameType::ping) is_acknowledged = true;
      sent.push_back(one);
    }
  }
  /// Returns the frames of that type that the connection has sent on that stream, and forgets all frames.
  /// Precondition: the connection is open.
  std::vector<play::Frame> sent_of(play::FrameType type, std::int32_t stream) {
    EXPECT_TRUE(has_turned());
    std::vector<play::Frame> some;
    for (const play::Frame& one : std::exchange(sent, {}))
      if (one.type == type && one.stream == stream) some.push_back(one);
    return some;
  }
  void connect(const std::vector<std::pair<unsigned, std::uint32_t>>& entries = {}) {
    receive(play::settings(entries) + play::frame(play::FrameType::settings, play::ack, 0, ""));
    EXPECT_FALSE(bench.run(connection->ready(Tick::now() + long_enough, wait)));
  }
  static RequestOpening opening(std::string_view head, bool whole = true, std::string_view body = {}) {
    return {head, "\r\n", body, false, whole, {}};
  }
  Task<std::string> read_head(Http2UpstreamStream& stream) {
    std::string text;
    std::array<char, 4096> room{};
    while (text.find("\r\n\r\n") == std::string::npos) {
      const auto [error, bytes] = co_await stream.read_some(asio::buffer(room));
      if (error) co_return error.message();
      text.append(room.data(), bytes);
    }
    co_return text;
  }
  Task<std::pair<std::string, BodyStep>> read_body(Http2UpstreamStream& stream) {
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
  Task<ErrorCode> read_some(Http2UpstreamStream& stream) {
    std::array<char, 16> room{};
    const auto [error, bytes] = co_await stream.read_some(asio::buffer(room));
    co_return error;
  }

  Bench bench;
  http::StreamMemory memory{0};
  RawSocket upstream;
  std::shared_ptr<Http2UpstreamConnection> connection;
  Pause wait{bench.io.get_executor()};
  play::FrameReader reader;
  std::vector<play::Frame> sent;
  bool is_acknowledged = false;
};

}  // namespace reprise::net
