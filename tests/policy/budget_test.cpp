// Tests the retry budget: full at the start, bounded in every window, refunded, and exact with several
// threads.
#include "proxy/policy/pacing/budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "proxy/policy/pacing/dice.hpp"

namespace reprise::policy {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{1h};

unsigned withdraw_all(Budget& budget, Instant now) {
  unsigned taken = 0;
  while (taken < 100'000 && budget.withdraw(now)) ++taken;
  return taken;
}

TEST(Budget, budget_starts_full) {
  Budget budget({0.2, 10, 10s});
  EXPECT_EQ(budget.left(start), 100);
  EXPECT_EQ(budget.available_ratio(start), 1);
  EXPECT_EQ(withdraw_all(budget, start), 100U);
  EXPECT_EQ(budget.left(start), 0);
  EXPECT_EQ(budget.available_ratio(start), 0);
}

TEST(Budget, first_attempts_increase_the_budget) {
  Budget budget({0.2, 0, 10s});
  for (int i = 0; i < 4; ++i) budget.deposit(start);
  EXPECT_EQ(budget.left(start), 0);
  EXPECT_FALSE(budget.withdraw(start));
  budget.deposit(start);
  EXPECT_EQ(budget.left(start), 1);
  EXPECT_TRUE(budget.withdraw(start));
  EXPECT_FALSE(budget.withdraw(start));
}

TEST(Budget, budget_with_zero_ratio_and_zero_floor_allows_no_retry) {
  Budget budget({0, 0, 10s});
  for (int i = 0; i < 100; ++i) budget.deposit(start);
  EXPECT_FALSE(budget.withdraw(start));
  EXPECT_EQ(budget.left(start), 0);
  EXPECT_EQ(budget.available_ratio(start), 0);
}

TEST(Budget, budget_refills_after_its_window_has_passed) {
  Budget budget({0.2, 1, 10s});
  EXPECT_EQ(withdraw_all(budget, start), 10U);
  EXPECT_EQ(budget.left(start + 10s), 0) << "exactly a window ago still counts";
  EXPECT_EQ(budget.left(start + 11s), 10);
  EXPECT_EQ(withdraw_all(budget, start + 1h), 10U);
}

TEST(Budget, first_attempts_stop_counting_after_the_window) {
  Budget budget({0.5, 0, 10s});
  for (int i = 0; i < 10; ++i) budget.deposit(start);
  EXPECT_EQ(budget.left(start + 8s), 5);
  EXPECT_EQ(budget.left(start + 11s), 0);
}

TEST(Budget, budget_is_never_negative) {
  Budget budget({0.5, 0, 10s});
  for (int i = 0; i < 10; ++i) budget.deposit(start);
  EXPECT_EQ(withdraw_all(budget, start + 9s), 5U);
  EXPECT_EQ(budget.left(start + 11s), 0);
  EXPECT_EQ(budget.available_ratio(start + 11s), 0);
}

TEST(Budget, refunded_retry_can_be_taken_from_the_budget_again) {
  Budget budget({0, 0.1, 10s});
  ASSERT_TRUE(budget.withdraw(start));
  ASSERT_FALSE(budget.withdraw(start));
  budget.refund(start, start + 3s);
  EXPECT_TRUE(budget.withdraw(start + 3s));
  EXPECT_FALSE(budget.withdraw(start + 3s));
}

TEST(Budget, refund_of_a_retry_outside_the_window_is_ignored) {
  Budget budget({0, 0.1, 10s});
  ASSERT_TRUE(budget.withdraw(start));
  for (const auto later : {11s, 22s, 60s}) {
    ASSERT_TRUE(budget.withdraw(start + later));
    budget.refund(start + later - 11s, start + later);
    EXPECT_FALSE(budget.withdraw(start + later));
  }
}

TEST(Budget, refund_without_a_withdrawal_is_ignored) {
  Budget budget({0, 0.1, 10s});
  ASSERT_TRUE(budget.withdraw(start));
  budget.refund(start, start);
  budget.refund(start, start);
  EXPECT_EQ(withdraw_all(budget, start), 1U);
}

TEST(Budget, budget_tolerates_a_clock_that_goes_backwards) {
  Budget budget({0, 1, 10s});
  EXPECT_EQ(withdraw_all(budget, start), 10U);
  EXPECT_FALSE(budget.withdraw(start - 5s));
  EXPECT_FALSE(budget.withdraw(start)) << "the ring does not turn back";
  budget.deposit(start - 1h);
  budget.refund(start, start - 1s);
  EXPECT_TRUE(budget.withdraw(start - 1s));
}

TEST(Budget, thousand_simultaneous_failures_get_only_the_budgeted_retries) {
  const BudgetPolicy policy{0.2, 10, 10s};
  Budget budget(policy);
  for (int i = 0; i < 1000; ++i) budget.deposit(start);
  unsigned retries = 0;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 1000; ++i) retries += budget.withdraw(start + round * 250ms) ? 1 : 0;
  }
  EXPECT_EQ(retries, 200U + 100U);
}

// Checks the limit on retries in every window that ends with a retry. Counts the events of a window in plain
// lists.
TEST(Budget, retries_in_any_window_never_exceed_what_the_ratio_and_floor_allow) {
  SeededDice dice(20250101);
  for (int round = 0; round < 20; ++round) {
    const BudgetPolicy policy{0.1 * static_cast<double>(dice.roll(10)), static_cast<double>(dice.roll(4)),
                              10s};
    Budget budget(policy);
    std::vector<Instant> firsts;
    std::vector<Instant> retries;
    Instant now = start;
    for (int i = 0; i < 2000; ++i) {
      now += std::chrono::milliseconds(dice.roll(20) == 0 ? dice.roll(9000) : dice.roll(60));
      if (dice.roll(2) == 0) {
        budget.deposit(now);
        firsts.push_back(now);
        continue;
      }
      if (!budget.withdraw(now)) continue;
      retries.push_back(now);
      const auto in_window = [&](const std::vector<Instant>& times) {
        return std::count_if(times.begin(), times.end(),
                             [&](Instant at) { return at > now - policy.window; });
      };
      const double share =
          policy.ratio * static_cast<double>(in_window(firsts)) + policy.floor_per_second * 10;
      ASSERT_LE(static_cast<double>(in_window(retries)), share + 1e-9)
          << "round " << round << ", event " << i;
    }
    EXPECT_TRUE(policy.ratio + policy.floor_per_second == 0 || !retries.empty());
  }
}

TEST(Budget, budget_is_exact_when_threads_use_it_concurrently) {
  Budget budget({0.2, 10, 10s});
  std::atomic<unsigned> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) {
        budget.deposit(start);
        if (budget.withdraw(start)) ++taken;
        budget.left(start);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  taken += withdraw_all(budget, start);
  EXPECT_EQ(taken, 800U + 100U);
}

}  // namespace
}  // namespace reprise::policy
