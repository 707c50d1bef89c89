// Tests the p95 latency after which a hedge may start.
#include "proxy/policy/pacing/latency.hpp"

#include <gtest/gtest.h>

namespace reprise::policy {
namespace {

using namespace std::chrono_literals;

ObservedLatency after(int count, Duration each = 1ms) {
  ObservedLatency latency;
  for (int i = 1; i <= count; ++i) latency.add(i * each);
  return latency;
}

TEST(ObservedLatency, p95_is_unknown_before_twenty_samples) {
  EXPECT_EQ(after(0).p95(), std::nullopt);
  EXPECT_EQ(after(19).p95(), std::nullopt);
  EXPECT_EQ(after(20).p95(), 19ms);
}

TEST(ObservedLatency, p95_is_computed_by_the_nearest_rank_method) {
  EXPECT_EQ(after(21).p95(), 20ms);
  EXPECT_EQ(after(100).p95(), 95ms);
  EXPECT_EQ(after(101).p95(), 96ms);
  EXPECT_EQ(after(200).p95(), 190ms);
}

TEST(ObservedLatency, only_the_last_two_hundred_samples_count) {
  EXPECT_EQ(after(201).p95(), 191ms);
  EXPECT_EQ(after(1000).p95(), 990ms);
}

TEST(ObservedLatency, order_of_samples_does_not_matter) {
  ObservedLatency latency;
  for (int i = 100; i >= 1; --i) latency.add(i * 1ms);
  EXPECT_EQ(latency.p95(), 95ms);
}

}  // namespace
}  // namespace reprise::policy
