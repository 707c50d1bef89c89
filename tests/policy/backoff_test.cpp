// Tests the five kinds of backoff: bounds, exact values, the cap, and attempt numbers for which the power of
// two would overflow.
#include "proxy/policy/pacing/backoff.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "tests/support/script.hpp"

namespace reprise::policy {
namespace {

using namespace std::chrono_literals;
using play::LoadedDice;

constexpr std::array all_kinds{Jitter::none, Jitter::full, Jitter::equal, Jitter::additive,
                               Jitter::decorrelated};

Backoff standard(Jitter jitter) { return {1s, 2, 64s, jitter}; }

Duration lowest(const Backoff& backoff, unsigned n, Duration previous = {}) {
  LoadedDice dice = LoadedDice::lowest();
  return draw_wait(backoff, n, previous, dice);
}
Duration highest(const Backoff& backoff, unsigned n, Duration previous = {}) {
  LoadedDice dice = LoadedDice::highest();
  return draw_wait(backoff, n, previous, dice);
}

struct Row {
  unsigned n;
  Duration lowest;
  Duration highest;
};

void expect_rows(const Backoff& backoff, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(lowest(backoff, row.n), row.lowest) << "n = " << row.n;
    EXPECT_EQ(highest(backoff, row.n), row.highest) << "n = " << row.n;
    EXPECT_EQ(wait_range(backoff, row.n, {}).lowest, row.lowest) << "n = " << row.n;
    EXPECT_EQ(wait_range(backoff, row.n, {}).highest, row.highest) << "n = " << row.n;
  }
}

TEST(Backoff, wait_without_jitter_grows_exponentially_up_to_the_maximum) {
  expect_rows(standard(Jitter::none),
              {{0, 1s, 1s}, {1, 2s, 2s}, {5, 32s, 32s}, {6, 64s, 64s}, {7, 64s, 64s}, {1000, 64s, 64s}});
}

TEST(Backoff, full_jitter_draws_between_zero_and_the_exponential_wait) {
  expect_rows(standard(Jitter::full),
              {{0, 0s, 1s}, {3, 0s, 8s}, {6, 0s, 64s}, {9, 0s, 64s}, {1000, 0s, 64s}});
}

TEST(Backoff, equal_jitter_draws_from_the_upper_half_of_the_exponential_wait) {
  expect_rows(standard(Jitter::equal), {{0, 500ms, 1s}, {3, 4s, 8s}, {6, 32s, 64s}, {1000, 32s, 64s}});
}

TEST(Backoff, additive_jitter_adds_at_most_one_second_and_caps_the_sum) {
  expect_rows(standard(Jitter::additive),
              {{0, 1s, 2s}, {3, 8s, 9s}, {5, 32s, 33s}, {6, 64s, 64s}, {7, 64s, 64s}, {1000, 64s, 64s}});
  const Backoff close_to_the_cap{1s, 2, 8500ms, Jitter::additive};
  expect_rows(close_to_the_cap, {{3, 8s, 8500ms}, {4, 8500ms, 8500ms}});
}

TEST(Backoff, additive_jitter_adds_whole_milliseconds) {
  LoadedDice dice = LoadedDice::scripted({0, 1, 999, 1000});
  for (const auto wanted : {1000ms, 1001ms, 1999ms, 2000ms}) {
    EXPECT_EQ(draw_wait(standard(Jitter::additive), 0, {}, dice), wanted);
  }
}

TEST(Backoff, additive_jitter_is_drawn_again_for_each_retry) {
  SeededDice dice(3);
  std::set<Duration> waits;
  for (int i = 0; i < 1000; ++i) {
    const Duration wait = draw_wait(standard(Jitter::additive), 0, {}, dice);
    EXPECT_GE(wait, 1s);
    EXPECT_LE(wait, 2s);
    EXPECT_EQ(wait % 1ms, 0ns);
    waits.insert(wait);
  }
  EXPECT_GT(waits.size(), 500U);
}

TEST(Backoff, decorrelated_jitter_grows_from_the_previous_wait) {
  const Backoff backoff = standard(Jitter::decorrelated);
  EXPECT_EQ(lowest(backoff, 0), 1s);
  EXPECT_EQ(highest(backoff, 0), 3s);
  EXPECT_EQ(highest(backoff, 1, 3s), 9s);
  EXPECT_EQ(highest(backoff, 2, 9s), 27s);
  EXPECT_EQ(highest(backoff, 3, 27s), 64s);
  EXPECT_EQ(highest(backoff, 9, 64s), 64s);
  EXPECT_EQ(lowest(backoff, 9, 64s), 1s);
  EXPECT_EQ(highest(backoff, 2, 1ms), 1s) << "a previous wait below the initial one";
  EXPECT_EQ(highest(backoff, 2, Duration::max()), 64s);
  EXPECT_EQ(highest(backoff, 2, Duration::max() / 2), 64s) << "three times that is no longer a Duration";
}

TEST(Backoff, every_jitter_except_additive_still_varies_at_the_maximum_wait) {
  for (const Jitter jitter : {Jitter::full, Jitter::equal, Jitter::decorrelated}) {
    SeededDice dice(5);
    std::set<Duration> waits;
    for (int i = 0; i < 100; ++i) waits.insert(draw_wait(standard(jitter), 50, 64s, dice));
    EXPECT_GT(waits.size(), jitter == Jitter::decorrelated ? 20U : 90U);
    EXPECT_LE(*waits.rbegin(), 64s);
  }
}

// The wait is drawn from 1 s to 192 s and then limited to the maximum of 64 s. Two thirds of the drawn waits
// are above 64 s.
TEST(Backoff, L19_decorrelated_jitter_at_the_maximum_mostly_returns_the_maximum) {
  SeededDice dice(5);
  int capped = 0;
  for (int i = 0; i < 3000; ++i)
    capped += draw_wait(standard(Jitter::decorrelated), 50, 64s, dice) == 64s ? 1 : 0;
  EXPECT_GT(capped, 1850);
  EXPECT_LT(capped, 2150);
}

TEST(Backoff, L19_decorrelated_jitter_below_the_maximum_uses_the_whole_range) {
  SeededDice dice(5);
  int above = 0;
  for (int i = 0; i < 3000; ++i) above += draw_wait(standard(Jitter::decorrelated), 1, 3s, dice) > 5s ? 1 : 0;
  EXPECT_GT(above, 1350);
  EXPECT_LT(above, 1650);
}

TEST(Backoff, zero_initial_wait_stays_zero_except_for_additive_jitter) {
  for (const Jitter jitter : {Jitter::none, Jitter::full, Jitter::equal, Jitter::decorrelated}) {
    const Backoff backoff{0s, 2, 8s, jitter};
    for (const unsigned n : {0U, 1U, 1000U, 1023U, 1024U, 5000U, ~0U})
      EXPECT_EQ(highest(backoff, n), 0s) << n;
  }
  EXPECT_EQ(highest({0s, 2, 8s, Jitter::additive}, 5000), 1s);
}

TEST(Backoff, maximum_below_the_initial_wait_caps_the_first_wait) {
  for (const Jitter jitter : all_kinds) {
    EXPECT_EQ(highest({4s, 2, 1s, jitter}, 0), 1s);
    EXPECT_LE(lowest({4s, 2, 1s, jitter}, 0), 1s);
  }
}

TEST(Backoff, multiplier_of_one_never_grows_the_wait) {
  EXPECT_EQ(highest({250ms, 1, 8s, Jitter::none}, 1000), 250ms);
}

TEST(Backoff, fractional_waits_are_rounded_to_the_nanosecond) {
  EXPECT_EQ(highest({1s, 1.5, 1min, Jitter::none}, 3), 3375ms);
  EXPECT_EQ(highest({3ns, 1.5, 1min, Jitter::none}, 1), 5ns);
}

TEST(Backoff, every_drawn_wait_is_within_its_range_at_every_attempt) {
  SeededDice dice(11);
  for (const Jitter jitter : all_kinds) {
    Duration previous{};
    for (unsigned n = 0; n < 2000; ++n) {
      const WaitRange range = wait_range(standard(jitter), n, previous);
      const Duration wait = draw_wait(standard(jitter), n, previous, dice);
      ASSERT_GE(wait, range.lowest) << n;
      ASSERT_LE(wait, range.highest) << n;
      ASSERT_LE(wait, 64s) << n;
      previous = wait;
    }
  }
}

TEST(Backoff, wait_without_jitter_draws_no_random_number) {
  LoadedDice dice = LoadedDice::highest();
  draw_wait(standard(Jitter::none), 3, {}, dice);
  EXPECT_EQ(dice.rolled(), 0U);
}

}  // namespace
}  // namespace reprise::policy
