// Tests Block and the Buffer that uses it: reuse of memory, growth, and the position of bytes.
#include "proxy/net/io/block.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#ifdef REPRISE_WATCHES_VIEWS
#include <sanitizer/asan_interface.h>
#endif

namespace reprise::net {
namespace {

void fill(Buffer& buffer, std::string_view bytes) {
  const auto room = buffer.room();
  ASSERT_LE(bytes.size(), room.size());
  std::memcpy(room.data(), bytes.data(), bytes.size());
  buffer.commit(bytes.size());
}

TEST(Block, released_block_is_reused_for_the_next_request) {
  if (views_are_watched) GTEST_SKIP() << "sanitizer: blocks rest where views are watched";
  Block first(1);
  EXPECT_EQ(first.size(), block_bytes);
  const char* const memory = first.data();
  first.release();
  EXPECT_FALSE(first);
  const Block second(block_bytes);
  EXPECT_EQ(second.data(), memory);
}

/// Holds `count` blocks at the same time, releases them, and returns their addresses.
std::set<const char*> lend(std::size_t count) {
  std::vector<Block> lent(count);
  std::set<const char*> memory;
  for (Block& block : lent) memory.insert((block = Block(block_bytes)).data());
  return memory;
}

TEST(Block, blocks_used_by_a_burst_are_freed_only_after_an_idle_period) {
  if (views_are_watched) GTEST_SKIP() << "sanitizer: blocks rest where views are watched";
  constexpr std::size_t burst = 300;
  constexpr std::size_t less = 200;
  constexpr std::size_t kept = 64;
  const auto first = lend(burst);
  EXPECT_EQ(first.size(), burst);
  free_spare_blocks();
  EXPECT_EQ(lend(burst), first) << "all of them were needed since";
  free_spare_blocks();
  EXPECT_TRUE(has_more_blocks_than_kept());
  EXPECT_EQ(lend(less).size(), less);
  free_spare_blocks();
  EXPECT_TRUE(has_more_blocks_than_kept());
  free_spare_blocks();
  EXPECT_FALSE(has_more_blocks_than_kept());
  std::size_t again = 0;
  for (const char* const memory : lend(kept)) again += first.count(memory);
  EXPECT_EQ(again, kept);
}

TEST(Block, block_has_the_small_or_large_size_or_exactly_the_requested_size) {
  EXPECT_EQ(Block(block_bytes).size(), block_bytes);
  EXPECT_EQ(Block(block_bytes + 1).size(), large_block_bytes);
  EXPECT_EQ(Block(large_block_bytes).size(), large_block_bytes);
  EXPECT_EQ(Block(large_block_bytes + 1).size(), large_block_bytes + 1);
}

TEST(Block, small_and_large_blocks_are_never_mixed) {
  Block small(1);
  Block large(block_bytes + 1);
  small.release();
  large.release();
  const Block again(block_bytes + 1);
  std::memset(again.data(), 'x', again.size());  // a sanitizer reports memory that is not usable
  EXPECT_EQ(again.size(), large_block_bytes);
}

TEST(Block, moved_block_keeps_its_memory) {
  Block first(1);
  const char* const memory = first.data();
  Block second(std::move(first));
  EXPECT_EQ(second.data(), memory);
  Block third(large_block_bytes);
  third = std::move(second);
  EXPECT_EQ(third.data(), memory);
  EXPECT_EQ(third.size(), block_bytes);
}

TEST(Buffer, empty_buffer_has_room_for_a_whole_block) {
  Buffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_TRUE(buffer.view().empty());
  EXPECT_EQ(buffer.room_left(), block_bytes);
  EXPECT_EQ(buffer.room().size(), block_bytes);
}

TEST(Buffer, buffered_bytes_do_not_move_if_there_is_room) {
  Buffer buffer;
  fill(buffer, "abcdef");
  const char* const place = buffer.view().data();
  buffer.consume(2);
  EXPECT_EQ(buffer.view(), "cdef");
  fill(buffer, "ghi");
  EXPECT_EQ(buffer.view(), "cdefghi");
  EXPECT_EQ(buffer.view().data(), place + 2);
}

TEST(Buffer, emptied_buffer_starts_at_the_front_again) {
  Buffer buffer;
  fill(buffer, "abc");
  buffer.consume(3);
  EXPECT_EQ(buffer.room().size(), block_bytes);
}

TEST(Buffer, compact_moves_bytes_to_the_front) {
  Buffer buffer;
  fill(buffer, std::string(block_bytes, 'x'));
  EXPECT_EQ(buffer.room_left(), 0U);
  buffer.consume(block_bytes - 3);
  EXPECT_EQ(buffer.room_left(), 0U);
  buffer.compact();
  EXPECT_EQ(buffer.view(), "xxx");
  EXPECT_EQ(buffer.room_left(), block_bytes - 3);
}

TEST(Buffer, grow_doubles_the_buffer_and_keeps_the_bytes) {
  Buffer buffer;
  std::string expected(block_bytes, 'a');
  fill(buffer, expected);
  for (std::size_t size = block_bytes * 2; size <= block_bytes * 16; size *= 2) {
    buffer.grow();
    EXPECT_GE(buffer.size() + buffer.room_left(), size);
    EXPECT_EQ(buffer.view(), expected);
    const std::string more(buffer.room_left(), static_cast<char>('a' + size / block_bytes % 26));
    fill(buffer, more);
    expected += more;
  }
  EXPECT_EQ(buffer.view(), expected);
}

TEST(Buffer, buffer_releases_its_block_only_when_empty) {
  Buffer buffer;
  fill(buffer, "ab");
  buffer.give_back();
  EXPECT_EQ(buffer.view(), "ab");
  buffer.consume(2);
  buffer.give_back();
  EXPECT_TRUE(buffer.empty());
  fill(buffer, "cd");
  EXPECT_EQ(buffer.view(), "cd");
}

TEST(Buffer, clear_discards_the_bytes_and_keeps_the_block) {
  if (views_are_watched) GTEST_SKIP() << "sanitizer: blocks rest where views are watched";
  Buffer buffer;
  fill(buffer, "ab");
  const void* const place = buffer.view().data();
  buffer.clear();
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.room().data(), place);
}

TEST(Buffer, buffer_is_enlarged_to_a_large_block_only_if_it_is_empty) {
  Buffer buffer;
  fill(buffer, "ab");
  buffer.enlarge_if_empty();
  EXPECT_EQ(buffer.view(), "ab");
  EXPECT_EQ(buffer.room_left(), block_bytes - 2);
  buffer.consume(2);
  buffer.enlarge_if_empty();
  EXPECT_EQ(buffer.room().size(), large_block_bytes);
}

TEST(Buffer, many_concurrent_long_bodies_get_smaller_blocks) {
  std::vector<Buffer> buffers(400);
  std::size_t bytes = 0;
  for (Buffer& buffer : buffers) {
    buffer.room();
    for (int i = 0; i < 2; ++i) buffer.enlarge_if_empty();
    bytes += buffer.room_left();
  }
  EXPECT_LE(bytes, std::size_t{40} << 20) << "it was 256 KiB for each";
  EXPECT_EQ(buffers.front().room_left(), std::size_t{256} << 10);
  EXPECT_EQ(buffers.back().room_left(), block_bytes);
  buffers.clear();
  free_spare_blocks();
  free_spare_blocks();
  Buffer next;
  for (int i = 0; i < 2; ++i) next.enlarge_if_empty();
  EXPECT_EQ(next.room_left(), std::size_t{256} << 10) << "once the others have ended";
}

TEST(Storage, cleared_string_keeps_its_storage_only_if_it_is_small) {
  std::string small(100, 'x');
  std::string large(70'000, 'x');
  empty_out(small);
  empty_out(large);
  EXPECT_TRUE(small.empty() && small.capacity() >= 100);
  EXPECT_TRUE(large.empty() && large.capacity() < 100);
}

TEST(Buffer, buffer_grows_from_large_to_largest_block_and_no_further) {
  constexpr std::size_t largest = std::size_t{256} * 1024;
  Buffer buffer;
  for (const std::size_t bytes : {large_block_bytes, largest, largest}) {
    buffer.enlarge_if_empty();
    EXPECT_EQ(buffer.room().size(), bytes);
    fill(buffer, std::string(bytes, 'x'));  // a sanitizer reports memory that is not usable
    buffer.clear();
  }
  const void* const place = buffer.room().data();
  buffer.give_back();
  EXPECT_EQ(Block(largest).data() == place, !views_are_watched);
}

#ifdef REPRISE_WATCHES_VIEWS

bool is_poisoned(std::string_view view) { return __asan_address_is_poisoned(view.data()) == 1; }

class EndOfViews : public ::testing::TestWithParam<std::pair<const char*, void (*)(Buffer&)>> {};
TEST_P(EndOfViews, L10_released_bytes_are_poisoned_for_the_sanitizer) {
  Buffer buffer;
  fill(buffer, "abc");
  const std::string_view view = buffer.view();
  buffer.consume(2);
  EXPECT_FALSE(is_poisoned(view)) << "a head is read again behind its end";
  GetParam().second(buffer);
  EXPECT_TRUE(is_poisoned(view)) << GetParam().first;
  Block another(1);
  std::memset(another.data(), 'x', another.size());
  EXPECT_TRUE(is_poisoned(view)) << "its block rests before it is lent again";
}
INSTANTIATE_TEST_SUITE_P(Buffer, EndOfViews,
                         ::testing::Values(std::pair(
                                               "grow", +[](Buffer& buffer) { buffer.grow(); }),
                                           std::pair(
                                               "compact", +[](Buffer& buffer) { buffer.compact(); }),
                                           std::pair(
                                               "clear", +[](Buffer& buffer) { buffer.clear(); }),
                                           std::pair(
                                               "room of an empty one",
                                               +[](Buffer& buffer) {
                                                 buffer.consume(1);
                                                 buffer.room();
                                               }),
                                           std::pair(
                                               "give_back",
                                               +[](Buffer& buffer) {
                                                 buffer.consume(1);
                                                 buffer.give_back();
                                               }),
                                           std::pair(
                                               "enlarge_if_empty",
                                               +[](Buffer& buffer) {
                                                 buffer.consume(1);
                                                 buffer.enlarge_if_empty();
                                               }),
                                           std::pair(
                                               "the end of the buffer",
                                               +[](Buffer& buffer) { buffer = Buffer(); })));

// The sanitizer ends the program if a byte of a reused block is still poisoned.
TEST(Block, L10_quarantined_blocks_are_fully_usable_when_reused) {
  for (int i = 0; i < 1000; ++i) {
    const Block block(1);
    std::memset(block.data(), 'x', block.size());
  }
}

#endif

}  // namespace
}  // namespace reprise::net
