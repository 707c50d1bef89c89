// Tests ReplayFile, which stores a body on disk and reads it back: order, limits, and destruction at any
// time.
#include "proxy/forward/replay/replay_file.hpp"

#include "proxy/forward/replay/replay_reader.hpp"
#include "tests/replay/replay_bench.hpp"
#include "tests/support/descriptors.hpp"

namespace reprise::forward {
namespace {

constexpr std::size_t block = 64 * 1024;

std::string pattern(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((i * 31 + i / 251) & 0xffU);
  return text;
}

Task<bool> read_all(ReplayReader& reader, std::string& out) {
  while (!reader.at_end()) {
    std::string_view piece;
    if (!co_await reader.next(piece)) co_return false;
    out.append(piece);
  }
  co_return true;
}

class ReplayFileTest : public ::testing::Test {
 protected:
  ~ReplayFileTest() override {
    disk().loosen();
    store().stop();
  }

  ReplayStore& store() { return *bench_of_store->store; }
  play::ScriptedDisk& disk() { return bench_of_store->disk; }
  auto executor() { return bench.io.get_executor(); }
  std::unique_ptr<ReplayFile> make() { return std::make_unique<ReplayFile>(store(), executor()); }
  std::unique_ptr<ReplayReader> reader(ReplayFile& file) {
    return std::make_unique<ReplayReader>(store(), file.flushed(), file.size(), executor());
  }
  bool append(ReplayFile& file, std::string_view bytes) {
    bool kept = true;
    while (kept && !bytes.empty()) {
      kept = file.append(bytes.substr(0, 50'000));
      bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 50'000));
      if (file.is_behind()) bench.run(file.wait_for_room());
    }
    return kept;
  }

  std::unique_ptr<StoreBench> bench_of_store = std::make_unique<StoreBench>();
  net::Bench bench;
};

TEST_F(ReplayFileTest, appended_bytes_can_be_read_back_repeatedly) {
  const auto file = make();
  const std::string bytes = pattern(1'000'001);
  EXPECT_TRUE(append(*file, bytes));
  EXPECT_EQ(file->size(), bytes.size());
  for (int i = 0; i < 2; ++i) {
    std::string out;
    const auto from = reader(*file);
    EXPECT_TRUE(bench.run(read_all(*from, out)));
    EXPECT_TRUE(out == bytes);
  }
}

TEST_F(ReplayFileTest, two_readers_of_a_replay_file_do_not_affect_each_other) {
  const auto file = make();
  const std::string bytes = pattern(500'000);
  EXPECT_TRUE(append(*file, bytes));
  const auto first = reader(*file);
  const auto second = reader(*file);
  std::string_view piece;
  EXPECT_TRUE(bench.run(first->next(piece)));
  std::string out(piece);
  std::string other;
  EXPECT_TRUE(bench.run(read_all(*second, other)));
  EXPECT_TRUE(bench.run(read_all(*first, out)));
  EXPECT_TRUE(out == bytes);
  EXPECT_TRUE(other == bytes);
}

TEST_F(ReplayFileTest, bytes_held_in_memory_are_stored_first_and_their_memory_is_released) {
  const auto file = make();
  const std::string bytes = pattern(300'000);
  Allotment memory(store().memory());
  ASSERT_TRUE(memory.grow(200'000));
  EXPECT_TRUE(file->append_held(bytes.substr(0, 200'000), std::move(memory)));
  EXPECT_TRUE(append(*file, bytes.substr(200'000)));
  EXPECT_TRUE(bench.run(file->wait_for_all()));
  EXPECT_EQ(bench_of_store->gauge("memory"), 0);
  EXPECT_EQ(bench_of_store->gauge("disk"), 300'000);
  EXPECT_EQ(disk().written, 300'000U);
  std::string out;
  const auto from = reader(*file);
  EXPECT_TRUE(bench.run(read_all(*from, out)));
  EXPECT_TRUE(out == bytes);
}

TEST_F(ReplayFileTest, writer_waits_for_a_disk_slower_than_the_client) {
  disk().stick();
  const auto file = make();
  const std::string bytes = pattern(6 * block);
  std::size_t taken = 0;
  for (; !file->is_behind(); taken += 1000) ASSERT_TRUE(file->append(bytes.substr(taken, 1000)));
  EXPECT_LE(taken, 5 * block + 1000);  // the bytes on their way to the disk are bounded
  bool room = false;
  asio::co_spawn(bench.io, file->wait_for_room(), [&](const std::exception_ptr&, bool) { room = true; });
  bench.io.poll();
  EXPECT_FALSE(room);
  disk().loosen();
  EXPECT_TRUE(bench.run_until([&] { return room; }));
  EXPECT_FALSE(file->is_behind());
  EXPECT_FALSE(file->failed());
}

TEST_F(ReplayFileTest, two_waits_for_the_disk_can_be_pending_at_the_same_time) {
  disk().stick();
  const auto file = make();
  ASSERT_TRUE(file->append(pattern(block)));
  unsigned over = 0;
  for (int i = 0; i < 2; ++i) {
    asio::co_spawn(bench.io, file->wait_for_all(), [&](const std::exception_ptr&, bool) { ++over; });
  }
  EXPECT_LT(bench.io.poll(), 10U);  // the two waits do not keep waking each other
  EXPECT_EQ(over, 0U);
  disk().loosen();
  EXPECT_TRUE(bench.run_until([&] { return over == 2; }));
  EXPECT_FALSE(file->failed());
}

TEST_F(ReplayFileTest, D17_disk_that_stays_stuck_counts_as_failed) {
  bench_of_store = std::make_unique<StoreBench>(1 << 20, 1 << 30, std::chrono::milliseconds(1));
  disk().stick();
  {
    const auto file = make();
    EXPECT_TRUE(file->append(pattern(block)));
    EXPECT_TRUE(bench.run(file->wait_for_all()));
    EXPECT_TRUE(file->failed());
    EXPECT_FALSE(file->append("x"));
  }
  disk().loosen();
  store().stop();
  EXPECT_NE(bench_of_store->logged().find("the disk is too slow"), std::string::npos);
}

TEST_F(ReplayFileTest, D17_many_short_waits_for_a_slow_disk_add_up_to_a_failure) {
  bench_of_store = std::make_unique<StoreBench>(1 << 20, 1 << 30, std::chrono::milliseconds(1));
  const auto file = make();
  for (int i = 0; i < 100'000 && !file->failed(); ++i) {
    disk().stick();
    while (!file->is_behind() && file->append(pattern(block))) continue;
    std::thread slow([&] {
      play::eventually([&] { return disk().waiting() == 1; });
      disk().loosen();
    });
    bench.run(file->wait_for_room());
    slow.join();
  }
  EXPECT_TRUE(file->failed()) << "however short each of them is";
}

TEST_F(ReplayFileTest, D17_blocks_being_written_count_in_the_shared_memory_limit) {
  bench_of_store = std::make_unique<StoreBench>(3 * block);
  disk().stick();
  const auto one = make();
  const auto other = make();
  EXPECT_TRUE(one->append(pattern(2 * block)));
  EXPECT_TRUE(other->append("x"));
  EXPECT_FALSE(other->append(pattern(block))) << "the first has two of three blocks";
  EXPECT_FALSE(other->failed()) << "nothing was taken";
  EXPECT_EQ(bench_of_store->gauge("memory"), 3.0 * block);
  disk().loosen();
  EXPECT_TRUE(bench.run(one->wait_for_all()));
  EXPECT_TRUE(other->append(pattern(block)));
  EXPECT_TRUE(bench.run(other->wait_for_all()));
  EXPECT_EQ(bench_of_store->gauge("memory"), 0);
}

TEST_F(ReplayFileTest, D17_disk_that_fills_up_is_detected_after_waiting_for_all_writes) {
  disk().room = 100'000;
  const auto file = make();
  EXPECT_TRUE(file->append(pattern(200'000)));
  EXPECT_TRUE(bench.run(file->wait_for_all()));
  EXPECT_TRUE(file->failed());
  EXPECT_FALSE(file->append("x"));
  store().stop();
  const std::string told = bench_of_store->logged();
  EXPECT_NE(told.find("No space left on device"), std::string::npos) << told;
  EXPECT_NE(told.find("\"warn\""), std::string::npos) << told;
}

TEST_F(ReplayFileTest, D17_bytes_that_cannot_be_read_back_are_reported_lost) {
  const auto file = make();
  EXPECT_TRUE(append(*file, pattern(400'000)));
  disk().readable = 300'000;
  std::string out;
  const auto from = reader(*file);
  EXPECT_FALSE(bench.run(read_all(*from, out)));
  EXPECT_TRUE(from->lost());
  EXPECT_TRUE(out == pattern(out.size()));
  EXPECT_LT(out.size(), 300'000U);
}

TEST_F(ReplayFileTest, cancelled_wait_for_the_disk_ends) {
  disk().stick();
  const auto file = make();
  ASSERT_TRUE(file->append(pattern(block)));
  bool over = false;
  bool whole = true;
  asio::co_spawn(bench.io, file->wait_for_all(), [&](const std::exception_ptr&, bool done) {
    over = true;
    whole = done;
  });
  bench.io.poll();
  file->cancel();
  EXPECT_TRUE(bench.run_until([&] { return over; }));
  EXPECT_FALSE(whole);
  over = false;
  const auto from = reader(*file);
  std::string_view piece;
  asio::co_spawn(bench.io, from->next(piece), [&](const std::exception_ptr&, bool) { over = true; });
  bench.io.poll();
  from->cancel();
  EXPECT_TRUE(bench.run_until([&] { return over; }));
  EXPECT_FALSE(from->lost());
  disk().loosen();
}

TEST_F(ReplayFileTest, file_can_be_destroyed_while_the_disk_is_writing) {
  const std::size_t before = play::open_descriptors();
  disk().stick();
  auto file = make();
  Allotment memory(store().memory());
  ASSERT_TRUE(memory.grow(100'000));
  EXPECT_TRUE(file->append_held(pattern(100'000), std::move(memory)));
  ASSERT_TRUE(file->append(pattern(3 * block)));
  auto from = reader(*file);
  std::string_view piece;
  bool over = false;
  asio::co_spawn(bench.io, from->next(piece), [&](const std::exception_ptr&, bool) { over = true; });
  bench.io.poll();
  from->cancel();
  EXPECT_TRUE(bench.run_until([&] { return over; }));
  from.reset();
  ASSERT_TRUE(play::eventually([&] { return disk().waiting() == 1; }));
  file.reset();
  EXPECT_EQ(bench_of_store->gauge("disk"), 100'000 + 3 * block);  // the file is not closed yet
  disk().loosen();
  EXPECT_TRUE(play::eventually([&] { return bench_of_store->gauge("disk") == 0; }));
  EXPECT_EQ(bench_of_store->gauge("memory"), 0);
  EXPECT_EQ(disk().written, block) << "what nobody wants any more is not written";
  EXPECT_EQ(play::open_descriptors(), before);
  bench.io.restart();
  bench.io.poll();  // late completions must not use the destroyed file
}

struct EndingLoop : asio::io_context {
  void destroy_handlers() { shutdown(); }
};

// When a thread ends, an attempt's frame may be destroyed after its session's frame, which owns the file.
TEST_F(ReplayFileTest, wait_for_the_disk_can_be_destroyed_after_its_replay_file) {
  disk().stick();
  EndingLoop loop;
  auto file = std::make_unique<ReplayFile>(store(), loop.get_executor());
  ASSERT_TRUE(file->append(pattern(block)));
  bool ended = false;
  asio::co_spawn(loop, file->wait_for_all(), [&](const std::exception_ptr&, bool) { ended = true; });
  loop.poll();
  file.reset();
  disk().loosen();
  store().stop();
  loop.destroy_handlers();
  EXPECT_FALSE(ended);
}

TEST_F(ReplayFileTest, disk_limit_is_shared_by_all_files_of_the_process) {
  bench_of_store = std::make_unique<StoreBench>(1 << 20, 250'000);
  auto first = make();
  auto second = make();
  EXPECT_TRUE(append(*first, pattern(150'000)));
  EXPECT_TRUE(append(*second, pattern(100'000)));
  EXPECT_FALSE(second->append("x"));
  EXPECT_EQ(second->size(), 100'000U);
  first.reset();
  EXPECT_TRUE(play::eventually([&] { return bench_of_store->gauge("disk") == 100'000; }));
  EXPECT_TRUE(second->append("x"));
  second.reset();
  store().stop();
  EXPECT_NE(bench_of_store->logged().find("limits.replay_disk is used up"), std::string::npos);
}

TEST(ReplayStore, each_cause_of_a_body_that_cannot_be_replayed_is_logged_at_most_once_a_second) {
  StoreBench bench;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) bench.store->log_not_held(NotHeld::file_failed, EROFS);
  });
  for (int i = 0; i < 1000; ++i) bench.store->log_not_held(NotHeld::file_failed, EROFS);
  other.join();
  bench.store->log_not_held(NotHeld::too_long);  // logged at level debug only
  const std::string told = bench.logged();
  const auto lines = std::count(told.begin(), told.end(), '\n');
  EXPECT_GE(lines, 1);
  EXPECT_LE(lines, 60);  // at most one line a second, even if a slow machine needs a minute
  EXPECT_NE(told.find("Read-only file system"), std::string::npos) << told;
  EXPECT_NE(told.find(bench.folder.path()), std::string::npos);
  EXPECT_EQ(told.find("replay.memory"), std::string::npos);
}

TEST(ReplayAllowance, lowered_replay_limit_applies_at_once_even_if_more_is_held) {
  StoreBench bench(100, 1000);
  ReplayAllowance& memory = bench.store->memory();
  EXPECT_EQ(bench.limit("memory"), 100);
  EXPECT_EQ(bench.limit("disk"), 1000);
  Allotment part(memory);
  ASSERT_TRUE(part.grow(80));
  config::Limits limits;
  limits.replay_memory_bytes = 50;
  limits.replay_disk_bytes = 0;
  bench.store->set_limits(limits);
  EXPECT_EQ(bench.limit("memory"), 50);
  EXPECT_EQ(bench.limit("disk"), 0);
  EXPECT_EQ(bench.gauge("memory"), 80);
  EXPECT_FALSE(part.grow(1));
  EXPECT_FALSE(bench.store->disk().take(1));
  part.release();
  EXPECT_FALSE(memory.take(51));
  EXPECT_TRUE(StoreBench::is_free(memory, 50));
  limits.replay_memory_bytes = 200;
  bench.store->set_limits(limits);
  EXPECT_TRUE(StoreBench::is_free(memory, 200));
}

TEST(ReplayAllowance, replay_allowance_grants_at_most_its_limit) {
  const auto metrics = net::make_metrics();
  ReplayAllowance allowance(100, telemetry::ReplayMedium::disk, *metrics);
  EXPECT_TRUE(allowance.take(100));
  EXPECT_FALSE(allowance.take(1));
  EXPECT_TRUE(allowance.take(0));
  allowance.give_back(100);
  EXPECT_FALSE(allowance.take(101));
  EXPECT_FALSE(allowance.take(std::numeric_limits<std::uint64_t>::max()));
  Allotment part(allowance);
  EXPECT_TRUE(part.grow(60));
  Allotment other = std::move(part);
  EXPECT_FALSE(other.grow(41));
  EXPECT_EQ(other.bytes(), 60U);
  other = Allotment(allowance);
  EXPECT_TRUE(StoreBench::is_free(allowance, 100));
}

}  // namespace
}  // namespace reprise::forward
