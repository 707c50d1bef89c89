// Tests by how much the window of a stream changes, and which bytes are announced again (row M103).
#include "proxy/http/http2/stream_window.hpp"

#include <gtest/gtest.h>

namespace reprise::http {
namespace {

constexpr std::int64_t kilobyte = 1024;

void pass_on(StreamWindow& window, std::size_t bytes) {
  window.take(bytes);
  EXPECT_EQ(window.pass_on(), bytes);
}

TEST(StreamWindow, M103_bytes_that_were_passed_on_are_announced_once) {
  StreamMemory memory(1024 * kilobyte);
  StreamWindow window(StreamWindow::least);
  pass_on(window, 4 * kilobyte);
  StreamWindow::Change change = window.reopen(4 * kilobyte, memory);
  EXPECT_EQ(change.by, 0) << "the response is still short";
  EXPECT_EQ(change.consumed, 4U * kilobyte);
  pass_on(window, 4 * kilobyte);
  change = window.reopen(4 * kilobyte, memory);
  EXPECT_EQ(change.by, StreamWindow::most - StreamWindow::least);
  EXPECT_EQ(change.consumed, 4U * kilobyte);
}

TEST(StreamWindow, M103_withheld_bytes_are_announced_once_when_memory_is_free_again) {
  StreamMemory memory(20 * kilobyte);
  StreamWindow window(StreamWindow::least);
  EXPECT_EQ(window.enlarge(memory).by, 20 * kilobyte);
  pass_on(window, 20 * kilobyte);
  StreamWindow::Change change = window.reopen(20 * kilobyte, memory);
  EXPECT_EQ(change.by, -20 * kilobyte) << "all memory is used";
  EXPECT_EQ(change.consumed, 0U);
  memory.add(-20 * kilobyte);
  change = window.enlarge(memory);
  EXPECT_EQ(change.by, 20 * kilobyte);
  EXPECT_EQ(change.consumed, 20U * kilobyte);
  memory.set_most(200 * kilobyte);
  change = window.enlarge(memory);
  EXPECT_EQ(change.by, 180 * kilobyte);
  EXPECT_EQ(change.consumed, 0U) << "they were announced before";
}

}  // namespace
}  // namespace reprise::http
