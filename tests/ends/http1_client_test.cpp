// Tests Http1Client: how it frames a response, what it sends together, and which socket a body may use.
#include "proxy/net/ends/http1_client.hpp"

#include <thread>

#include "tests/support/loopback.hpp"

namespace reprise::net {
namespace {

class Http1ClientTest : public ::testing::Test {
 protected:
  std::string received(std::size_t bytes) {
    EXPECT_TRUE(pair.raw.read_bytes(bytes));
    return pair.raw.take(bytes);
  }
  void send_all() {
    ErrorCode error;
    EXPECT_TRUE(client.send_now(error));
    EXPECT_FALSE(error);
  }

  Bench bench;
  Pair pair = connect_pair(bench);
  Http1Client client{*pair.stream};
};

TEST_F(Http1ClientTest, head_pieces_and_end_of_a_chunked_body_are_sent_together) {
  client.add_head("HEAD\r\n\r\n", true);
  client.add_piece("abc");
  client.add_piece("0123456789abcdef");
  EXPECT_FALSE(client.has_room());
  client.add_end("X-Sum: 7\r\n");
  EXPECT_TRUE(pair.raw.received().empty());
  send_all();
  const std::string expected = "HEAD\r\n\r\n3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nX-Sum: 7\r\n\r\n";
  EXPECT_EQ(received(expected.size()), expected);
  EXPECT_TRUE(client.has_room());
}

TEST_F(Http1ClientTest, body_that_is_not_chunked_is_sent_unchanged_and_without_trailers) {
  client.add_head("HEAD\r\n\r\n", false);
  client.add_piece("abc");
  client.add_end("X-Sum: 7\r\n");
  send_all();
  pair.stream->finish_sending();
  EXPECT_EQ(pair.raw.read_to_end(), Wire::fin);
  EXPECT_EQ(pair.raw.received(), "HEAD\r\n\r\nabc");
}

TEST_F(Http1ClientTest, chunked_body_continues_after_its_head_was_sent) {
  client.add_head("HEAD\r\n\r\n", true);
  send_all();
  client.add_piece("abc");
  EXPECT_FALSE(bench.run(client.send_rest(long_enough)));
  client.add_end({});
  EXPECT_FALSE(bench.run(client.send_rest(long_enough)));
  const std::string expected = "HEAD\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  EXPECT_EQ(received(expected.size()), expected);
}

TEST_F(Http1ClientTest, interim_head_precedes_the_final_one) {
  EXPECT_FALSE(bench.run(client.send_interim("103\r\n\r\n", long_enough)));
  client.add_head("HEAD\r\n\r\n", false);
  send_all();
  EXPECT_EQ(received(15), "103\r\n\r\nHEAD\r\n\r\n");
}

TEST_F(Http1ClientTest, nothing_follows_an_interim_head_that_was_cut) {
  EXPECT_TRUE(
      bench.run(client.send_interim(std::string(std::size_t{32} << 20, 'x'), std::chrono::milliseconds(1))));
  client.add_head("HEAD\r\n\r\n", false);
  ErrorCode error;
  EXPECT_TRUE(client.send_now(error));
  EXPECT_EQ(error, asio::error::operation_aborted);
}

TEST_F(Http1ClientTest, what_the_kernel_does_not_take_at_once_is_sent_later) {
  const std::string body(std::size_t{32} << 20, 'x');
  client.add_head("HEAD\r\n\r\n", false);
  client.add_piece(body);
  ErrorCode error;
  EXPECT_FALSE(client.send_now(error)) << "no socket buffer holds 32 MiB";
  EXPECT_FALSE(error);
  std::thread reader([&] { EXPECT_TRUE(pair.raw.read_bytes(body.size() + 8)); });
  EXPECT_FALSE(bench.run(client.send_rest(long_enough)));
  reader.join();
  EXPECT_EQ(pair.raw.received().substr(8), body);
}

TEST_F(Http1ClientTest, client_that_reads_nothing_ends_a_send_by_its_limit) {
  const std::string body(std::size_t{32} << 20, 'x');
  client.add_head("HEAD\r\n\r\n", false);
  client.add_piece(body);
  EXPECT_TRUE(bench.run(client.send_rest(milliseconds(1))));
  EXPECT_TRUE(client.take_limit_hit());
  EXPECT_FALSE(client.take_limit_hit());
}

TEST_F(Http1ClientTest, only_a_body_that_is_not_chunked_may_use_the_socket) {
  client.add_head("HEAD\r\n\r\n", false);
  EXPECT_EQ(client.socket(), pair.stream.get());
  client.add_head("HEAD\r\n\r\n", true);
  EXPECT_EQ(client.socket(), nullptr);
}

TEST_F(Http1ClientTest, cut_response_ends_with_a_reset) {
  client.add_head("HEAD\r\n\r\n", false);
  send_all();
  client.cut();
  EXPECT_EQ(pair.raw.read_to_end(), Wire::reset);
}

}  // namespace
}  // namespace reprise::net
