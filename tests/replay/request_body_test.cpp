// Tests RequestBody: a body is held for replay within its limits, and its memory and disk are released.
#include "proxy/forward/replay/request_body.hpp"

#include <sys/ioctl.h>

#include <cstring>

#include "proxy/net/ends/body_reader.hpp"
#include "tests/replay/replay_bench.hpp"

namespace reprise::forward {
namespace {

using Kind = http::Framing::Kind;

Task<net::BodyStep> read_rest(RequestBody& body, std::string& out) {
  for (;;) {
    std::string_view piece;
    const net::BodyStep step = co_await body.next(net::long_enough, piece);
    if (step != net::BodyStep::piece) co_return step;
    out.append(piece);
  }
}

Task<bool> read_back(ReplayReader& reader, std::string& out) {
  while (!reader.at_end()) {
    std::string_view piece;
    if (!co_await reader.next(piece)) co_return false;
    out.append(piece);
  }
  co_return true;
}

Task<int> settled(RequestBody& body) {
  co_await body.settle();
  co_return 1;
}

std::string as_chunks(std::string_view text) {
  std::string wire = "10\r\n" + std::string(text.substr(0, 16)) + "\r\n";
  http::write_chunk_size(text.size() - 16, wire);
  return wire.append(text.substr(16)).append("\r\n0\r\n\r\n");
}

class RequestBodyTest : public ::testing::Test {
 protected:
  http::RequestHead counted(std::uint64_t length) {
    http::RequestHead made;
    made.framing.kind = Kind::length;
    made.framing.length = length;
    return made;
  }
  http::RequestHead chunked() {
    http::RequestHead made;
    made.framing.kind = Kind::chunked;
    return made;
  }
  void put(std::string_view bytes) {
    std::memcpy(buffer.room().data(), bytes.data(), bytes.size());
    buffer.commit(bytes.size());
  }
  ~RequestBodyTest() override { stores.store->stop(); }

  void begin(const http::RequestHead& of, std::uint64_t in_memory, std::uint64_t on_disk = 0) {
    head = of;
    reader.begin(*pair.stream, buffer, head.framing);
    body.begin(reader, *stores.store, head, {in_memory, on_disk, std::max(in_memory, on_disk)});
  }
  /// Returns the body that attempt 2 would send, from memory or from disk.
  std::string replayed() {
    std::string bytes(body.held());
    if (body.stored() == 0) return bytes;
    const auto from = body.read_stored();
    EXPECT_TRUE(bench.run(read_back(*from, bytes)));
    return bytes;
  }
  net::BodyStep read() {
    out.clear();
    return bench.run(read_rest(body, out));
  }
  bool memory_is_free() { return StoreBench::is_free(stores.store->memory(), most_held); }
  /// Waits until the disk allowance is free. A file is closed some time after its release.
  bool disk_becomes_free() {
    return play::eventually([&] { return StoreBench::is_free(stores.store->disk(), most_stored); });
  }

  /// Raises the memory limit, because bytes on their way to disk use blocks of the memory that all requests
  /// share.
  void allow_blocks() {
    most_held = std::size_t{1} << 20;
    config::Limits limits;
    limits.replay_memory_bytes = most_held;
    limits.replay_disk_bytes = most_stored;
    stores.store->set_limits(limits);
  }

  std::size_t most_held = 100;
  static constexpr std::size_t most_stored = 1'000'000;
  StoreBench stores{most_held, most_stored};
  ReplayAllowance& memory = stores.store->memory();
  net::Bench bench;
  net::Pair pair = net::connect_pair(bench);
  net::Buffer buffer;
  http::RequestHead head;
  net::BodyReader reader;
  RequestBody body;
  std::string out;
};

TEST_F(RequestBodyTest, request_without_a_body_is_complete_and_replayable) {
  begin(http::RequestHead(), 50);
  EXPECT_FALSE(body.has_body());
  EXPECT_TRUE(body.complete());
  EXPECT_TRUE(body.replayable());
  EXPECT_EQ(body.held(), "");
}

TEST_F(RequestBodyTest, body_received_together_with_its_head_is_held_in_the_read_buffer) {
  put("hellonext");
  begin(counted(5), 50);
  EXPECT_TRUE(body.complete());
  EXPECT_TRUE(body.replayable());
  EXPECT_EQ(body.held(), "hello");
  EXPECT_EQ(body.received(), 5U);
  EXPECT_EQ(buffer.view(), "next");
  EXPECT_TRUE(memory_is_free());
  EXPECT_EQ(read(), net::BodyStep::end);
  EXPECT_EQ(out, "");
  EXPECT_EQ(body.held(), "hello");
}

TEST_F(RequestBodyTest, D4_later_body_bytes_are_held_as_they_are_read) {
  put("he");
  begin(counted(5), 50);
  EXPECT_FALSE(body.complete());
  EXPECT_TRUE(body.replayable());
  EXPECT_EQ(body.held(), "");
  pair.raw.send("llo");
  EXPECT_EQ(read(), net::BodyStep::end);
  EXPECT_EQ(out, "hello");
  EXPECT_EQ(body.held(), "hello");
  EXPECT_TRUE(body.complete());
  EXPECT_FALSE(memory_is_free());
  body.end();
  EXPECT_TRUE(memory_is_free());
}

// While an upload still sends the last piece, another one must not come to the end of the body: the memory of
// the piece would be released.
TEST_F(RequestBodyTest, M84_body_may_be_shared_once_its_last_piece_is_sent) {
  struct Waiting final : net::Cancellable {
    void cancel() override { ++calls; }
    int calls = 0;
  };
  for (const bool counts : {true, false}) {
    Waiting waiting;
    begin(counts ? counted(5) : chunked(), 50);
    EXPECT_FALSE(body.may_be_shared());
    pair.raw.send(counts ? "hello" : "5\r\nhello\r\n0\r\n\r\n");
    std::string_view piece;
    {
      const auto guard = body.wake_at_end(waiting);
      ASSERT_EQ(bench.run(body.next(net::long_enough, piece)), net::BodyStep::piece);
      EXPECT_FALSE(body.may_be_shared());
      EXPECT_EQ(waiting.calls, 0);
      EXPECT_EQ(bench.run(body.next(net::long_enough, piece)), net::BodyStep::end);
      EXPECT_TRUE(body.may_be_shared());
      EXPECT_EQ(waiting.calls, 1);
    }
    EXPECT_EQ(read(), net::BodyStep::end) << "the copy sends the same body";
    EXPECT_EQ(waiting.calls, 1) << "nobody waits any more";
    body.end();
  }
  put("hello");
  begin(counted(5), 50);
  EXPECT_TRUE(body.may_be_shared()) << "no part of it is to be read";
}

TEST_F(RequestBodyTest, D5_body_is_replayable_up_to_the_limit_and_not_above_it) {
  struct Case {
    std::size_t bytes;
    bool replayable;
  };
  for (const Case& one : {Case{39, true}, Case{40, true}, Case{41, false}}) {
    const std::string text(one.bytes, 'x');
    for (const bool is_chunked : {false, true}) {
      begin(is_chunked ? chunked() : counted(one.bytes), 40);
      EXPECT_TRUE(body.replayable());
      pair.raw.send(is_chunked ? as_chunks(text) : text);
      EXPECT_EQ(read(), net::BodyStep::end);
      EXPECT_EQ(out, text);
      EXPECT_EQ(body.replayable(), one.replayable) << one.bytes << is_chunked;
      EXPECT_EQ(body.held(), one.replayable ? text : "") << one.bytes << is_chunked;
      EXPECT_EQ(body.received(), one.bytes);
      body.end();
      EXPECT_TRUE(memory_is_free());
    }
  }
}

TEST_F(RequestBodyTest, body_with_a_zero_limit_is_replayable_until_a_byte_is_read) {
  begin(counted(3), 0);
  EXPECT_TRUE(body.replayable());
  pair.raw.send("abc");
  EXPECT_EQ(read(), net::BodyStep::end);
  EXPECT_FALSE(body.replayable());
  EXPECT_EQ(body.held(), "");
}

TEST_F(RequestBodyTest, memory_limit_is_shared_by_all_requests) {
  ASSERT_TRUE(memory.take(60));
  begin(counted(41), 50);
  pair.raw.send(std::string(41, 'x'));
  EXPECT_EQ(read(), net::BodyStep::end);
  EXPECT_EQ(out.size(), 41U);
  EXPECT_FALSE(body.replayable());
  body.end();
  begin(counted(40), 50);
  pair.raw.send(std::string(40, 'x'));
  EXPECT_EQ(read(), net::BodyStep::end);
  EXPECT_TRUE(body.replayable());
  EXPECT_FALSE(memory.take(1));
  body.end();
  memory.give_back(60);
  EXPECT_TRUE(memory_is_free());
}

TEST_F(RequestBodyTest, D17_buffer_of_a_finished_body_is_reused_by_the_next) {
  allow_blocks();
  const std::string sent(40'000, 'x');
  const char* place = nullptr;
  for (const bool is_counted : {true, false, true}) {
    pair.raw.send(is_counted ? sent : as_chunks(sent));
    begin(is_counted ? counted(sent.size()) : chunked(), 100'000);
    EXPECT_EQ(read(), net::BodyStep::end);
    EXPECT_EQ(body.held(), sent);
    if (place == nullptr) place = body.held().data();
    EXPECT_EQ(body.held().data(), place);
    body.end();
    EXPECT_EQ(stores.store->spare_buffers().bytes(), 64U * 1024);
  }
}

TEST_F(RequestBodyTest, memory_is_released_when_the_body_is_destroyed) {
  {
    RequestBody other;
    head = counted(10);
    reader.begin(*pair.stream, buffer, head.framing);
    other.begin(reader, *stores.store, head, {50, 0, 50});
    pair.raw.send("0123456789");
    EXPECT_EQ(bench.run(read_rest(other, out)), net::BodyStep::end);
    EXPECT_FALSE(memory_is_free());
  }
  EXPECT_TRUE(memory_is_free());
}

TEST_F(RequestBodyTest, D17_memory_of_an_incomplete_body_is_released) {
  begin(counted(10), 50);
  pair.raw.send("01234");
  ASSERT_TRUE(net::has_arrived(*pair.stream, 5));
  pair.raw.finish_sending();
  EXPECT_EQ(read(), net::BodyStep::closed);
  EXPECT_FALSE(body.complete());
  body.end();
  EXPECT_TRUE(memory_is_free());
}

TEST_F(RequestBodyTest, D5_body_over_the_memory_limit_is_stored_on_disk_up_to_its_limit) {
  allow_blocks();
  for (const std::size_t bytes : {39U, 40U, 41U, 69'999U, 70'000U, 70'001U}) {
    std::string text(bytes, 'x');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i % 23);
    for (const bool is_chunked : {false, true}) {
      const std::uint64_t written = stores.disk.written;
      begin(is_chunked ? chunked() : counted(bytes), 40, 70'000);
      std::thread client([&] { pair.raw.send(is_chunked ? as_chunks(text) : text); });
      EXPECT_EQ(read(), net::BodyStep::end);
      client.join();
      EXPECT_TRUE(out == text);
      EXPECT_EQ(body.replayable(), bytes <= 70'000) << bytes << is_chunked;
      EXPECT_EQ(body.whole_in_memory(), bytes <= 40) << bytes << is_chunked;
      EXPECT_TRUE(replayed() == (bytes <= 70'000 ? text : "")) << bytes << is_chunked;
      EXPECT_TRUE(replayed() == (bytes <= 70'000 ? text : "")) << bytes << is_chunked;
      // A body whose Content-Length exceeds the limit is never written. A chunked body may be written until
      // it exceeds the limit.
      const bool on_disk = bytes > 40 && bytes <= 70'000;
      if (on_disk || bytes <= 40 || !is_chunked) {
        EXPECT_EQ(stores.disk.written > written, on_disk) << bytes << is_chunked;
      }
      body.end();
      EXPECT_TRUE(play::eventually([&] { return memory_is_free(); }));
      EXPECT_TRUE(disk_becomes_free());
    }
  }
}

TEST_F(RequestBodyTest, D17_full_disk_makes_a_body_unreplayable_but_does_not_end_it) {
  allow_blocks();
  const std::string text(900'000, 'y');
  for (const bool is_chunked : {false, true}) {
    stores.disk.room = 200'000;
    begin(is_chunked ? chunked() : counted(text.size()), 40, most_stored);
    std::thread client([&] { pair.raw.send(is_chunked ? as_chunks(text) : text); });
    EXPECT_EQ(read(), net::BodyStep::end);
    client.join();
    EXPECT_TRUE(out == text);
    EXPECT_EQ(bench.run(settled(body)), 1);
    EXPECT_FALSE(body.replayable());
    body.end();
    EXPECT_TRUE(disk_becomes_free());
  }
}

TEST_F(RequestBodyTest, D17_body_continues_unreplayable_when_the_disk_is_too_slow) {
  allow_blocks();
  stores.disk.stick();
  const std::string text(900'000, 'y');
  head = counted(text.size());
  reader.begin(*pair.stream, buffer, head.framing);
  body.begin(reader, *stores.store, head, {40, most_stored, most_stored, net::Tick::now()});
  std::thread client([&] { pair.raw.send(text); });
  EXPECT_EQ(read(), net::BodyStep::end) << "the disk never takes a byte, and the deadline is over";
  client.join();
  EXPECT_TRUE(out == text);
  EXPECT_FALSE(body.replayable());
  stores.disk.loosen();
  EXPECT_TRUE(play::eventually([&] { return memory_is_free(); }));
  EXPECT_TRUE(disk_becomes_free());
  EXPECT_LE(stores.disk.written, 65'536U) << "only the write that was under way when the body was released";
}

TEST_F(RequestBodyTest, finished_request_body_releases_its_read_buffer) {
  begin(counted(100'000), 0);
  std::thread client([&] { pair.raw.send(std::string(100'000, 'y')); });
  EXPECT_EQ(read(), net::BodyStep::end);
  client.join();
  EXPECT_EQ(reader.read_beyond().room_left(), net::block_bytes)
      << "no block is lent: the response may be long in coming";
}

TEST_F(RequestBodyTest, D17_large_body_needs_only_one_block_of_memory_if_the_disk_is_fast_enough) {
  allow_blocks();
  ASSERT_TRUE(memory.take(most_held - 65'536));
  const std::string text(900'000, 'y');
  begin(counted(text.size()), 40, most_stored);
  std::thread client([&] { pair.raw.send(text); });
  EXPECT_EQ(read(), net::BodyStep::end);
  client.join();
  EXPECT_TRUE(body.replayable());
  EXPECT_TRUE(replayed() == text);
  memory.give_back(most_held - 65'536);
  EXPECT_TRUE(play::eventually([&] { return memory_is_free(); })) << "the last block waits for no response";
}

TEST_F(RequestBodyTest, D17_body_waits_for_memory_that_another_body_is_writing_to_disk) {
  allow_blocks();
  stores.disk.stick();
  ASSERT_TRUE(memory.take(most_held - 65'536));
  ReplayFile other(*stores.store, pair.stream->executor());
  ASSERT_TRUE(other.append(std::string(65'536, 'o')));
  const std::string text(200'000, 'y');
  begin(counted(text.size()), 40, most_stored);
  std::thread client([&] {
    pair.raw.send(text.substr(0, 1000));
    int unread = 1;
    EXPECT_TRUE(play::eventually(
        [&] { return ::ioctl(pair.stream->descriptor(), FIONREAD, &unread) == 0 && unread == 0; }));
    stores.disk.loosen();
    pair.raw.send(text.substr(1000));
  });
  EXPECT_EQ(read(), net::BodyStep::end);
  client.join();
  EXPECT_TRUE(body.replayable());
  EXPECT_TRUE(replayed() == text);
  memory.give_back(most_held - 65'536);
}

TEST_F(RequestBodyTest, bodies_held_in_memory_leave_one_block_of_the_limit_for_disk_writes) {
  allow_blocks();
  for (const std::size_t bytes : {most_held - 65'536, most_held - 65'535}) {
    begin(counted(bytes), most_held);
    std::thread client([&] { pair.raw.send(std::string(bytes, 'y')); });
    EXPECT_EQ(read(), net::BodyStep::end);
    client.join();
    EXPECT_EQ(body.replayable(), bytes == most_held - 65'536);
    body.end();
  }
}

TEST_F(RequestBodyTest, body_over_the_shared_disk_limit_is_read_to_its_end_and_its_disk_space_released) {
  allow_blocks();
  ASSERT_TRUE(stores.store->disk().take(most_stored - 1000));
  begin(counted(2000), 40, 5000);
  pair.raw.send(std::string(2000, 'x'));
  EXPECT_EQ(read(), net::BodyStep::end);
  EXPECT_EQ(out.size(), 2000U);
  EXPECT_FALSE(body.replayable());
  EXPECT_EQ(body.stored(), 0U);
  stores.store->disk().give_back(most_stored - 1000);
  EXPECT_TRUE(disk_becomes_free());
}

TEST_F(RequestBodyTest, pipelined_bytes_after_a_chunked_body_stay_in_the_buffer) {
  begin(chunked(), 50);
  pair.raw.send("2\r\nab\r\n0\r\n\r\nGET /");
  ASSERT_TRUE(net::has_arrived(*pair.stream, 17));
  EXPECT_EQ(read(), net::BodyStep::end);
  EXPECT_EQ(body.held(), "ab");
  body.end();
  EXPECT_EQ(buffer.view(), "GET /");
}

TEST_F(RequestBodyTest, A10_counting_a_chunked_body_stops_at_the_limit_without_losing_bytes) {
  allow_blocks();
  const std::string text = std::string(40, 'a') + std::string(40, 'b') + std::string(40, 'c');
  for (const std::uint64_t on_disk : {0U, 90U}) {
    begin(chunked(), 50, on_disk);
    pair.raw.send("28\r\n" + text.substr(0, 40) + "\r\n");
    ASSERT_TRUE(net::has_arrived(*pair.stream, 46));
    // Sends each chunk after the previous one has been read from the socket.
    std::thread client([&, socket = pair.stream->descriptor()] {
      const auto is_read = [socket] {
        int unread = 1;
        return ::ioctl(socket, FIONREAD, &unread) == 0 && unread == 0;
      };
      play::eventually(is_read);
      pair.raw.send("28\r\n" + text.substr(40, 40) + "\r\n");
      if (on_disk > 0) play::eventually(is_read);
      pair.raw.send("28\r\n" + text.substr(80) + "\r\n0\r\n\r\n");
    });
    EXPECT_EQ(bench.run(body.count(net::long_enough)), net::BodyStep::piece);
    EXPECT_FALSE(body.complete());
    EXPECT_TRUE(body.replayable());
    EXPECT_TRUE(body.chunked());
    EXPECT_EQ(bench.run(body.count(net::long_enough)), net::BodyStep::piece) << "asked again, it knows";
    const std::string first = replayed();
    EXPECT_EQ(first.size(), on_disk > 0 ? 80U : 40U);
    EXPECT_EQ(read(), net::BodyStep::end);
    client.join();
    EXPECT_EQ(first + out, text);
    EXPECT_FALSE(body.replayable());
    body.end();
  }
}

TEST_F(RequestBodyTest, A10_counting_a_chunked_body_stops_when_the_shared_memory_is_used_up) {
  ASSERT_TRUE(memory.take(80));
  begin(chunked(), 50);
  pair.raw.send("28\r\n" + std::string(40, 'a') + "\r\n0\r\n\r\n");
  EXPECT_EQ(bench.run(body.count(net::long_enough)), net::BodyStep::piece);
  EXPECT_FALSE(body.complete()) << "a piece is still to be handed out, though all was read";
  EXPECT_EQ(read(), net::BodyStep::end);
  EXPECT_EQ(out, std::string(40, 'a'));
  memory.give_back(80);
}

TEST_F(RequestBodyTest, A10_chunked_body_stored_to_count_its_length_is_rejected_if_the_disk_is_full) {
  allow_blocks();
  stores.disk.room = 10;
  begin(chunked(), 10, 1000);
  pair.raw.send("28\r\n" + std::string(40, 'a') + "\r\n0\r\n\r\n");
  EXPECT_EQ(bench.run(body.count(net::long_enough)), net::BodyStep::malformed);
  EXPECT_EQ(body.malformation(), http::Rejection::length_required);
}

TEST_F(RequestBodyTest, J1_trailers_are_forwarded_except_forbidden_ones) {
  begin(chunked(), 50);
  pair.raw.send("2\r\nab\r\n0\r\nX-Sum: 9\r\nContent-Length: 7\r\n\r\n");
  EXPECT_EQ(read(), net::BodyStep::end);
  std::string lines;
  body.append_trailers(lines);
  EXPECT_EQ(lines, "X-Sum: 9\r\n");
}

TEST_F(RequestBodyTest, A4_malformed_chunk_is_distinguished_from_a_disconnected_client) {
  begin(chunked(), 50);
  pair.raw.send("zz\r\n");
  EXPECT_EQ(read(), net::BodyStep::malformed);
  EXPECT_EQ(body.malformation(), http::Rejection::bad_chunk);
}

}  // namespace
}  // namespace reprise::forward
