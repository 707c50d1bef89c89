#include "proxy/forward/replay/spare_buffers.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace reprise::forward {
namespace {

constexpr std::size_t kib = 1024;

TEST(SpareBuffers, returned_buffer_is_reused_for_a_body_of_similar_length) {
  SpareBuffers spare;
  std::string buffer = spare.take(200 * kib);
  EXPECT_EQ(buffer.capacity(), 256 * kib);
  buffer.assign(200 * kib, 'x');
  const char* const place = buffer.data();
  spare.give(std::move(buffer));
  EXPECT_EQ(spare.bytes(), 256 * kib);
  EXPECT_NE(spare.take(100 * kib).data(), place) << "more than twice as long";
  EXPECT_NE(spare.take(300 * kib).data(), place) << "too short";
  const std::string again = spare.take(130 * kib);
  EXPECT_EQ(again.data(), place);
  EXPECT_TRUE(again.empty());
  EXPECT_EQ(spare.bytes(), 0U);
}

TEST(SpareBuffers, short_buffers_and_buffers_over_the_limit_are_not_kept) {
  SpareBuffers spare;
  spare.give(std::string(kib, 'x'));
  spare.give(std::string());
  EXPECT_EQ(spare.bytes(), 0U);
  spare.give(std::string(SpareBuffers::most_bytes + 1, 'x'));
  EXPECT_EQ(spare.bytes(), 0U);
  for (int i = 0; i < 100; ++i) {
    std::string buffer;
    buffer.reserve(256 * kib);
    spare.give(std::move(buffer));
    EXPECT_TRUE(buffer.empty());
  }
  EXPECT_EQ(spare.bytes(), SpareBuffers::most_bytes);
}

}  // namespace
}  // namespace reprise::forward
