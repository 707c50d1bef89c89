// Tests Http1Upstream: what it writes for each kind of request body, and what ends its waits.
#include "proxy/net/ends/http1_upstream.hpp"

#include "tests/support/loopback.hpp"

namespace reprise::net {
namespace {

class Http1UpstreamTest : public ::testing::Test {
 protected:
  ErrorCode open(bool chunked, std::string_view body, bool whole, std::string_view trailers = {}) {
    return upstream.open(
        {"POST / HTTP/1.1\r\n", "Reprise-Attempt: 2\r\n\r\n", body, chunked, whole, trailers});
  }
  /// Returns what follows the head, once that many bytes of it have arrived.
  std::string body(std::size_t bytes) {
    EXPECT_TRUE(pair.raw.read_bytes(head.size() + bytes));
    EXPECT_EQ(pair.raw.take(head.size()), head);
    return pair.raw.take(bytes);
  }
  /// Returns everything that was sent.
  std::string all() {
    pair.stream->finish_sending();
    EXPECT_EQ(pair.raw.read_to_end(), Wire::fin);
    return pair.raw.take_all();
  }

  const std::string head = "POST / HTTP/1.1\r\nReprise-Attempt: 2\r\n\r\n";
  Bench bench;
  Pair pair = connect_pair(bench);
  Http1Upstream upstream{*pair.stream};
};

TEST_F(Http1UpstreamTest, counted_body_is_sent_unchanged) {
  EXPECT_FALSE(open(false, "abc", false));
  EXPECT_TRUE(upstream.all_sent());
  EXPECT_FALSE(bench.run(upstream.send_piece("defg", long_enough)));
  EXPECT_FALSE(bench.run(upstream.send_end({}, long_enough)));
  EXPECT_EQ(body(7), "abcdefg");
  EXPECT_EQ(upstream.sent_bytes(), head.size() + 7);
  EXPECT_TRUE(upstream.may_have_sent());
}

TEST_F(Http1UpstreamTest, each_piece_of_a_chunked_body_is_one_chunk) {
  EXPECT_FALSE(open(true, "abc", false));
  EXPECT_FALSE(bench.run(upstream.send_piece("0123456789abcdef", long_enough)));
  EXPECT_FALSE(bench.run(upstream.send_end("X-Sum: 7\r\n", long_enough)));
  const std::string expected = "3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nX-Sum: 7\r\n\r\n";
  EXPECT_EQ(body(expected.size()), expected);
}

TEST_F(Http1UpstreamTest, whole_chunked_body_is_ended_once) {
  EXPECT_FALSE(open(true, "abc", true, "X-Sum: 7\r\n"));
  EXPECT_TRUE(upstream.all_sent());
  EXPECT_FALSE(bench.run(upstream.send_end("X-Sum: 8\r\n", long_enough)));
  EXPECT_EQ(all(), head + "3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n");
}

TEST_F(Http1UpstreamTest, empty_chunked_body_is_its_last_chunk) {
  EXPECT_FALSE(open(true, {}, true));
  EXPECT_EQ(body(5), "0\r\n\r\n");
}

TEST_F(Http1UpstreamTest, next_request_on_the_connection_has_its_own_framing) {
  EXPECT_FALSE(open(true, "abc", true));
  EXPECT_EQ(body(13), "3\r\nabc\r\n0\r\n\r\n");
  EXPECT_FALSE(open(false, "def", true));
  EXPECT_EQ(body(3), "def");
  EXPECT_FALSE(open(true, "g", false));
  EXPECT_FALSE(bench.run(upstream.send_end({}, long_enough)));
  EXPECT_EQ(body(11), "1\r\ng\r\n0\r\n\r\n");
}

TEST_F(Http1UpstreamTest, nothing_is_sent_after_end_sending) {
  EXPECT_FALSE(open(false, "abc", false));
  upstream.end_sending();
  EXPECT_EQ(bench.run(upstream.send_piece("def", long_enough)), asio::error::operation_aborted);
  EXPECT_EQ(all(), head + "abc");
}

TEST_F(Http1UpstreamTest, pauses_are_allowed_only_while_a_body_is_sent) {
  upstream.limit_unacknowledged(seconds(3));
  upstream.begin_pauses(seconds(60));
  EXPECT_EQ(pair.stream->user_timeout(), seconds(60));
  upstream.end_pauses();
  EXPECT_EQ(pair.stream->user_timeout(), seconds(3));
}

TEST_F(Http1UpstreamTest, wait_for_end_distinguishes_an_end_from_an_unexpected_byte) {
  pair.raw.send("?");
  EXPECT_FALSE(bench.run(upstream.wait_for_end()));
  pair.raw.close();
  EXPECT_TRUE(bench.run(upstream.wait_for_end()));
}

}  // namespace
}  // namespace reprise::net
