// Tests stream operations that overlap.
#include "proxy/net/io/stream.hpp"

#include <functional>
#include <thread>

#include "tests/support/loopback.hpp"

namespace reprise::net {
namespace {

constexpr std::size_t much = 16'000'000;  // more than any kernel buffer holds

/// A write that cannot complete yet, because the other side does not read.
struct StuckWrite {
  explicit StuckWrite(Duration idle = long_enough) : pair(connect_pair(bench)) {
    asio::co_spawn(bench.io, write(*this, idle), asio::detached);
    bench.run_until([this] { return rounds_are_over(); });
  }
  StuckWrite(const StuckWrite&) = delete;

  static Task<void> write(StuckWrite& stuck, Duration idle) {
    Gather pieces;
    pieces.add(stuck.bytes);
    stuck.error = co_await stuck.pair.stream->write_all(pieces, idle);
    stuck.over = true;
  }
  /// Counts one turn of the event loop. Returns true after more than 20 turns.
  bool rounds_are_over() { return ++rounds > 20; }

  const std::string bytes = std::string(much, 'x');
  Bench bench;
  Pair pair;
  ErrorCode error;
  bool over = false;
  int rounds = 0;
};

// Lets the time limit for reading expire between two reads, as if one turn of the event loop took longer than
// the limit. If `forgets` is true, discards the expired limit before the second read.
Task<ErrorCode> read_again_after_a_late_limit(Bench& bench, Pair& pair, bool forgets) {
  char bytes[1];
  pair.raw.send("ab");
  auto [error, count] = co_await pair.stream->read_some(asio::buffer(bytes));
  if (error) co_return error;
  pair.stream->limit_read(Tick::granule);
  Timer later(bench.io);
  later.expires_after(4 * Tick::granule);
  co_await later.async_wait(as_result);
  if (forgets) {
    pair.stream->end_limit();
  } else {
    pair.stream->unlimit_read();
  }
  std::tie(error, count) = co_await pair.stream->read_some(asio::buffer(bytes));
  co_return error;
}

TEST(Stream, discarded_read_limit_that_expires_between_reads_does_not_end_the_next_read) {
  for (const bool forgets : {true, false}) {
    Bench bench;
    Pair pair = connect_pair(bench);
    const ErrorCode error = bench.run(read_again_after_a_late_limit(bench, pair, forgets));
    EXPECT_EQ(error, forgets ? ErrorCode() : ErrorCode(asio::error::operation_aborted));
  }
}

TEST(Stream, L29_ending_a_read_does_not_end_a_write) {
  StuckWrite stuck;
  ASSERT_FALSE(stuck.over);
  for (int times = 0; times < 3; ++times) {
    stuck.pair.stream->end_read();
    stuck.rounds = 0;
    stuck.bench.run_until([&] { return stuck.rounds_are_over(); });
    EXPECT_FALSE(stuck.over);
  }
  std::thread reading([&] { EXPECT_TRUE(stuck.pair.raw.read_bytes(much)); });
  EXPECT_TRUE(stuck.bench.run_until([&] { return stuck.over; }));
  EXPECT_EQ(stuck.error, ErrorCode());
  reading.join();
}

TEST(Stream, L29_read_limit_does_not_end_a_write) {
  StuckWrite stuck;
  stuck.pair.stream->limit_read(milliseconds(1));
  stuck.bench.run_until([&] { return stuck.pair.stream->take_limit_hit(); });
  std::thread reading([&] { EXPECT_TRUE(stuck.pair.raw.read_bytes(much)); });
  EXPECT_TRUE(stuck.bench.run_until([&] { return stuck.over; }));
  EXPECT_EQ(stuck.error, ErrorCode());
  reading.join();
}

Task<ErrorCode> wait_for_room(Stream& stream, asio::io_context& io, std::function<void()> waiting) {
  Gather pieces;
  const std::string bytes(much, 'x');
  pieces.add(bytes);
  ErrorCode error = stream.write_now(pieces);
  asio::post(io, std::move(waiting));
  if (!error) error = co_await stream.wait_writable(long_enough);
  co_return error;
}

TEST(Stream, L29_ending_a_read_does_not_end_a_wait_for_send_room) {
  Bench bench;
  Pair pair = connect_pair(bench);
  std::thread reading;
  const auto waiting = [&] {
    pair.stream->end_read();
    reading = std::thread([&] { pair.raw.read_to_end(); });
  };
  EXPECT_EQ(bench.run(wait_for_room(*pair.stream, bench.io, waiting)), ErrorCode());
  pair.stream->close();
  reading.join();
}

TEST(Stream, L29_write_is_ended_by_its_own_time_limit_or_by_cancel_or_end_writing_or_cut) {
  using End = void (*)(Stream&);
  for (const End end :
       {+[](Stream&) {}, +[](Stream& stream) { stream.cancel(); },
        +[](Stream& stream) { stream.end_writing(); }, +[](Stream& stream) { stream.cut(); }}) {
    StuckWrite stuck(seconds(1));
    end(*stuck.pair.stream);
    EXPECT_TRUE(stuck.bench.run_until([&] { return stuck.over; }));
    EXPECT_NE(stuck.error, ErrorCode());
  }
}

}  // namespace
}  // namespace reprise::net
