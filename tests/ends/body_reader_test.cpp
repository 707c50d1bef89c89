// Tests BodyReader: every framing, every kind of end, and that no byte after the body is consumed.
#include "proxy/net/ends/body_reader.hpp"

#include <cstring>
#include <thread>

#include "tests/support/loopback.hpp"
#include "tests/support/some_limit.hpp"

namespace reprise::net {
namespace {

using Kind = http::Framing::Kind;

/// The result of reading a body to its end.
struct Read {
  BodyStep last = BodyStep::piece;
  std::string body;
  std::string trailers;
  bool surplus = false;
};

Task<Read> read_all(BodyReader& reader, Duration idle) {
  Read read;
  for (;;) {
    std::string_view piece;
    read.last = co_await reader.next(idle, piece);
    if (read.last != BodyStep::piece) break;
    read.body.append(piece);
  }
  read.trailers = reader.trailers();
  read.surplus = reader.has_surplus();
  co_return read;
}

Task<BodyStep> next_until(BodyReader& reader, Instant due) {
  std::string_view piece;
  co_return co_await reader.next_until(due, piece);
}

class BodyReaderTest : public ::testing::Test {
 protected:
  void begin(Kind kind, std::uint64_t length = 0, std::string_view behind_head = {}) {
    if (!behind_head.empty()) {
      std::memcpy(buffer.room().data(), behind_head.data(), behind_head.size());
      buffer.commit(behind_head.size());
    }
    http::Framing framing;
    framing.kind = kind;
    framing.length = length;
    reader.begin(*pair.stream, buffer, framing);
  }
  Read read(Duration idle = long_enough) { return bench.run(read_all(reader, idle)); }

  Bench bench;
  Pair pair = connect_pair(bench);
  Buffer buffer;
  BodyReader reader;
};

Task<std::size_t> next_size(BodyReader& reader) {
  std::string_view piece;
  co_await reader.next(long_enough, piece);
  co_return piece.size();
}

TEST_F(BodyReaderTest, body_read_that_fills_its_buffer_is_followed_by_a_larger_read) {
  constexpr std::size_t sent = 2 * large_block_bytes + 1;
  const int room = 1 << 20;
  ASSERT_EQ(::setsockopt(pair.stream->descriptor(), SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
  std::thread sender([&] { static_cast<void>(pair.raw.send(std::string(sent, 'x'))); });
  ASSERT_TRUE(has_arrived(*pair.stream, sent));
  sender.join();
  begin(Kind::length, sent + 1);
  EXPECT_EQ(bench.run(next_size(reader)), large_block_bytes);
  EXPECT_EQ(bench.run(next_size(reader)), large_block_bytes + 1);
}

TEST_F(BodyReaderTest, body_that_is_absent_or_empty_is_complete_at_once) {
  begin(Kind::none);
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(read().last, BodyStep::end);
  begin(Kind::length, 0);
  EXPECT_TRUE(reader.complete());
}

TEST_F(BodyReaderTest, fixed_length_body_is_read_from_the_buffer_and_then_the_socket) {
  begin(Kind::length, 10, "abcd");
  std::string_view piece;
  BodyStep step{};
  ASSERT_TRUE(reader.take_at_hand(step, piece));
  EXPECT_EQ(piece, "abcd");
  EXPECT_FALSE(reader.take_at_hand(step, piece));
  EXPECT_FALSE(reader.complete());
  pair.raw.send("efghij");
  const Read all = read();
  EXPECT_EQ(all.last, BodyStep::end);
  EXPECT_EQ(all.body, "efghij");
  EXPECT_FALSE(all.surplus);
}

TEST_F(BodyReaderTest, B11_A17_bytes_after_a_fixed_length_body_stay_in_the_buffer) {
  begin(Kind::length, 3, "abcNEXT");
  const Read all = read();
  EXPECT_EQ(all.body, "abc");
  EXPECT_TRUE(all.surplus);
  reader.end();
  EXPECT_EQ(buffer.view(), "NEXT");
}

TEST_F(BodyReaderTest, B11_bytes_after_a_fixed_length_body_stay_in_the_socket) {
  begin(Kind::length, 3);
  pair.raw.send("abcNEXT");
  ASSERT_TRUE(has_arrived(*pair.stream, 7));
  EXPECT_EQ(read().body, "abc");
  EXPECT_TRUE(has_arrived(*pair.stream, 4));
}

TEST_F(BodyReaderTest, long_fixed_length_body_arrives_complete) {
  std::string body(3'000'000, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31 % 251);
  begin(Kind::length, body.size());
  std::thread sender([&] { pair.raw.send(body); });
  const Read all = read();
  sender.join();
  EXPECT_EQ(all.last, BodyStep::end);
  EXPECT_TRUE(all.body == body);
}

TEST_F(BodyReaderTest, chunked_body_is_decoded_and_keeps_allowed_trailers) {
  begin(Kind::chunked, 0, "3\r\nabc\r\n4;x=y\r\nde");
  pair.raw.send("fg\r\n0\r\nX-Sum: 1\r\nHost: evil\r\n\r\nNEXT");
  ASSERT_TRUE(has_arrived(*pair.stream, 20));
  const Read all = read();
  EXPECT_EQ(all.last, BodyStep::end);
  EXPECT_EQ(all.body, "abcdefg");
  EXPECT_EQ(all.trailers, "X-Sum: 1\r\n");
  EXPECT_TRUE(all.surplus);
  reader.end();
  EXPECT_EQ(buffer.view(), "NEXT");
}

TEST_F(BodyReaderTest, I1_chunked_body_split_at_any_byte_is_decoded_the_same) {
  const std::string wire = "1\r\na\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n";
  for (std::size_t cut = 0; cut <= wire.size(); ++cut) {
    Pair fresh = connect_pair(bench);
    Buffer behind;
    if (cut > 0) {
      std::memcpy(behind.room().data(), wire.data(), cut);
      behind.commit(cut);
    }
    BodyReader one;
    http::Framing framing;
    framing.kind = Kind::chunked;
    one.begin(*fresh.stream, behind, framing);
    fresh.raw.send(wire.substr(cut));
    const Read all = bench.run(read_all(one, long_enough));
    EXPECT_EQ(all.last, BodyStep::end) << cut;
    EXPECT_EQ(all.body, "a0123456789") << cut;
    EXPECT_EQ(all.trailers, "T: v\r\n") << cut;
  }
}

TEST_F(BodyReaderTest, A4_broken_chunk_framing_is_reported_as_malformed) {
  begin(Kind::chunked, 0, "3\r\nabcX\n");
  const Read all = read();
  EXPECT_EQ(all.last, BodyStep::malformed);
  EXPECT_EQ(all.body, "abc");
  EXPECT_EQ(reader.malformation(), http::Rejection::bad_chunk);
  EXPECT_FALSE(reader.complete());
}

TEST_F(BodyReaderTest, close_delimited_body_ends_with_a_fin) {
  begin(Kind::until_close, 0, "ab");
  pair.raw.send("cd");
  pair.raw.finish_sending();
  const Read all = read();
  EXPECT_EQ(all.last, BodyStep::end);
  EXPECT_EQ(all.body, "abcd");
}

TEST_F(BodyReaderTest, B4_reset_does_not_complete_a_close_delimited_body) {
  begin(Kind::until_close);
  pair.raw.send("abcd");
  ASSERT_TRUE(has_arrived(*pair.stream, 4));
  pair.raw.reset();
  EXPECT_EQ(read().last, BodyStep::failed);
  EXPECT_FALSE(reader.complete());
}

TEST_F(BodyReaderTest, B13_fin_before_the_full_length_does_not_complete_the_body) {
  begin(Kind::length, 10, "abc");
  pair.raw.send("de");
  pair.raw.finish_sending();
  const Read all = read();
  EXPECT_EQ(all.last, BodyStep::closed);
  EXPECT_EQ(all.body, "abcde");
  EXPECT_FALSE(reader.complete());
}

TEST_F(BodyReaderTest, B5_fin_before_the_end_of_the_last_chunk_does_not_complete_the_body) {
  for (const char* wire : {"", "3\r\nab", "3\r\nabc\r\n", "3\r\nabc\r\n0", "3\r\nabc\r\n0\r\n",
                           "3\r\nabc\r\n0\r\nX: y\r\n", "3\r\nabc\r\n0\r\n\r"}) {
    Pair fresh = connect_pair(bench);
    BodyReader one;
    http::Framing framing;
    framing.kind = Kind::chunked;
    one.begin(*fresh.stream, buffer, framing);
    fresh.raw.send(wire);
    fresh.raw.finish_sending();
    EXPECT_EQ(bench.run(read_all(one, long_enough)).last, BodyStep::closed) << wire;
    one.end();
  }
}

TEST_F(BodyReaderTest, reset_fails_the_body) {
  begin(Kind::length, 10);
  pair.raw.reset();
  EXPECT_EQ(read().last, BodyStep::failed);
}

TEST_F(BodyReaderTest, B6_stall_is_reported_after_the_stall_timeout_without_bytes_and_never_earlier) {
  begin(Kind::length, 10, "abc");
  const Instant before = Tick::now();
  const Read all = read(milliseconds(120));
  EXPECT_EQ(all.last, BodyStep::stalled);
  EXPECT_EQ(all.body, "abc");
  EXPECT_GE(Tick::now() - before, milliseconds(120));
}

TEST_F(BodyReaderTest, body_read_with_a_time_limit_is_reported_as_stalled_at_that_time) {
  begin(Kind::length, 10);
  const Instant due = Tick::now() + milliseconds(100);
  EXPECT_EQ(bench.run(next_until(reader, due)), BodyStep::stalled);
  EXPECT_GE(Tick::now(), due);
}

TEST_F(BodyReaderTest, stall_timeout_counts_from_the_last_byte) {
  EXPECT_TRUE(play::under_some_limit(milliseconds(300), [&](milliseconds limit) {
    Pair fresh = connect_pair(bench);
    Buffer behind;
    BodyReader one;
    http::Framing framing;
    framing.kind = Kind::length;
    framing.length = 100;
    one.begin(*fresh.stream, behind, framing);
    std::thread sender([&] {
      for (int i = 0; i < 5; ++i) {
        fresh.raw.send("x");
        fresh.raw.read_more(limit / 3);  // pauses for limit / 3, because no byte arrives
      }
    });
    const Instant before = Tick::now();
    const Read all = bench.run(read_all(one, limit));
    const Duration took = Tick::now() - before;
    sender.join();
    EXPECT_EQ(all.last, BodyStep::stalled);
    // Five bytes arrive with four pauses between them. After the last byte, the whole time limit passes
    // again.
    return all.body == "xxxxx" && took >= limit + 4 * (limit / 3);
  }));
}

TEST_F(BodyReaderTest, reader_can_read_another_body_after_a_call_of_end) {
  begin(Kind::length, 3, "abc5\r\nhello\r\n0\r\n\r\n");
  EXPECT_EQ(read().body, "abc");
  reader.end();
  begin(Kind::chunked);
  EXPECT_EQ(read().body, "hello");
}

}  // namespace
}  // namespace reprise::net
