// Tests the estimate of how long an upstream keeps idle connections.
#include "proxy/policy/pacing/idle_life.hpp"

#include <gtest/gtest.h>

namespace reprise::policy::idle_life_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{1000h};

TEST(IdleLife, L5_idle_limit_is_unknown_at_first) {
  IdleLife life;
  EXPECT_FALSE(life.known());
  EXPECT_EQ(life.limit(start), std::nullopt);
}

TEST(IdleLife, L5_idle_limit_is_half_of_the_shortest_idle_time_that_ended_in_a_close) {
  IdleLife life;
  life.ended_after(40s, start);
  EXPECT_TRUE(life.known());
  EXPECT_EQ(life.limit(start), 20s);
  life.ended_after(10s, start + 1s);
  EXPECT_EQ(life.limit(start + 1s), 5s);
  life.ended_after(25s, start + 2s);
  EXPECT_EQ(life.limit(start + 2s), 5s);
}

TEST(IdleLife, L5_learned_limit_doubles_while_no_idle_connection_is_closed) {
  IdleLife life;
  life.ended_after(20ms, start);
  EXPECT_EQ(life.limit(start + IdleLife::growth - 1ns), 10ms);
  EXPECT_EQ(life.limit(start + IdleLife::growth), 20ms);
  EXPECT_EQ(life.limit(start + 3 * IdleLife::growth), 80ms);
  // The upstream closes a connection that was idle for 100 ms. The limit on the idle time becomes 50 ms, and
  // the earlier growth of the limit is discarded.
  const Instant later = start + 3 * IdleLife::growth + IdleLife::growth / 2;
  life.ended_after(100ms, later);
  EXPECT_EQ(life.limit(later + IdleLife::growth - 1ns), 50ms);
  EXPECT_EQ(life.limit(later + IdleLife::growth), 100ms);
}

TEST(IdleLife, L5_limit_learned_from_an_upstream_restart_expires) {
  IdleLife life;
  life.ended_after(Duration::zero(), start);
  EXPECT_TRUE(life.known());
  EXPECT_LE(life.limit(start), 1us);
  // After ten minutes the limit on the idle time has grown to at least half a second. Connections that are
  // used often are never idle for so long. After ten hours there is no limit.
  EXPECT_GE(life.limit(start + 10min), 500ms);
  EXPECT_EQ(life.limit(start + 10h), std::nullopt);
  EXPECT_FALSE(life.known());
}

TEST(IdleLife, L24_idle_time_of_any_length_does_not_overflow) {
  IdleLife life;
  life.ended_after(Duration::max(), start);
  EXPECT_EQ(life.limit(start), IdleLife::most);
  EXPECT_EQ(life.limit(start + IdleLife::growth), std::nullopt) << "twice that is beyond what is kept";
  EXPECT_EQ(life.limit(start + 100'000h), std::nullopt);
}

}  // namespace
}  // namespace reprise::policy::idle_life_test
