// Tests the table of budgets: each combination of host, settings and kind has its own budget, and the number
// of hosts is bounded.
#include "proxy/net/upstream/budget_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>

namespace reprise::net {
namespace {

constexpr policy::Instant start{std::chrono::hours(1)};

policy::BudgetPolicy tight() {
  policy::BudgetPolicy policy;
  policy.ratio = 0;
  policy.floor_per_second = 0.1;  // one retry in ten seconds
  return policy;
}

TEST(BudgetTable, routes_with_the_same_budget_settings_and_kind_share_one_budget_per_host) {
  BudgetTable budgets(8);
  const auto one = budgets.account("a:80", {}, BudgetKind::real);
  EXPECT_EQ(budgets.account("a:80", {}, BudgetKind::real), one);
  EXPECT_NE(budgets.account("a:81", {}, BudgetKind::real), one);
  EXPECT_NE(budgets.account("b:80", {}, BudgetKind::real), one);
  EXPECT_NE(budgets.account("a:80", tight(), BudgetKind::real), one);
}

TEST(BudgetTable, shadow_budget_of_observe_mode_does_not_affect_the_real_budget) {
  BudgetTable budgets(8);
  const auto real = budgets.account("a:80", tight(), BudgetKind::real);
  const auto shadow = budgets.account("a:80", tight(), BudgetKind::shadow);
  ASSERT_NE(real, shadow);
  EXPECT_TRUE(shadow->withdraw(start));
  EXPECT_FALSE(shadow->withdraw(start));
  EXPECT_TRUE(real->withdraw(start));
}

bool has_one_left(BudgetTable& budgets, std::string_view host) {
  return budgets.account(host, tight(), BudgetKind::real)->left(start) >= 1;
}

TEST(BudgetTable, least_recently_used_host_is_evicted_and_returns_with_a_full_budget) {
  BudgetTable budgets(2);
  ASSERT_TRUE(budgets.account("a:80", tight(), BudgetKind::real)->withdraw(start));
  ASSERT_TRUE(budgets.account("b:80", tight(), BudgetKind::real)->withdraw(start));
  EXPECT_FALSE(has_one_left(budgets, "a:80"));
  ASSERT_TRUE(budgets.account("c:80", tight(), BudgetKind::real)->withdraw(start));  // evicts b
  EXPECT_FALSE(has_one_left(budgets, "a:80"));
  EXPECT_TRUE(has_one_left(budgets, "b:80"));  // evicts c
}

TEST(BudgetTable, L21_host_in_use_keeps_its_budget) {
  BudgetTable budgets(2);
  const auto busy = budgets.account("busy:80", tight(), BudgetKind::real);
  ASSERT_TRUE(busy->withdraw(start));
  for (int i = 0; i < 1000; ++i) budgets.account("h" + std::to_string(i) + ":80", tight(), BudgetKind::real);
  EXPECT_EQ(budgets.account("busy:80", tight(), BudgetKind::real), busy) << "another thread gets the same";
  std::map<std::string, double, std::less<>> reported;
  budgets.each(start, [&](std::string_view host, double ratio) { reported[std::string(host)] = ratio; });
  EXPECT_EQ(reported.size(), 2U);
  EXPECT_EQ(reported.at("busy:80"), 0) << "the gauge follows the one that is in use";
}

TEST(BudgetTable, L21_all_hosts_in_use_are_kept_until_they_are_idle) {
  BudgetTable budgets(2);
  std::vector<std::shared_ptr<policy::Budget>> held;
  for (const char* host : {"a:80", "b:80", "c:80", "d:80"})
    held.push_back(budgets.account(host, tight(), BudgetKind::real));
  EXPECT_EQ(budgets.account("a:80", tight(), BudgetKind::real), held.front());
  held.clear();
  budgets.left("a:80");
  budgets.account("e:80", tight(), BudgetKind::real);
  std::map<std::string, double, std::less<>> reported;
  budgets.each(start, [&](std::string_view host, double ratio) { reported[std::string(host)] = ratio; });
  EXPECT_EQ(reported, (std::map<std::string, double, std::less<>>{{"a:80", 1}, {"e:80", 1}}));
}

TEST(BudgetTable, number_of_hosts_stays_bounded) {
  BudgetTable budgets(10);
  for (int i = 0; i < 1000; ++i) budgets.account("h" + std::to_string(i) + ":80", {}, BudgetKind::real);
  std::size_t hosts = 0;
  budgets.each(start, [&](std::string_view, double) { ++hosts; });
  EXPECT_EQ(hosts, 10U);
}

TEST(BudgetTable, report_lists_only_real_budgets_and_gives_their_remaining_ratio) {
  BudgetTable budgets(8);
  ASSERT_TRUE(budgets.account("spent:80", tight(), BudgetKind::real)->withdraw(start));
  budgets.account("full:80", tight(), BudgetKind::real);
  ASSERT_TRUE(budgets.account("watched:80", tight(), BudgetKind::shadow)->withdraw(start));
  std::map<std::string, double, std::less<>> reported;
  budgets.each(start, [&](std::string_view host, double ratio) { reported[std::string(host)] = ratio; });
  EXPECT_EQ(reported, (std::map<std::string, double, std::less<>>{{"spent:80", 0}, {"full:80", 1}}));
}

TEST(BudgetTable, budget_table_can_be_used_by_several_threads_at_once) {
  BudgetTable budgets(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i)
        budgets.account("h" + std::to_string(i % 9) + ":80", {}, BudgetKind::real)->deposit(start);
    });
  }
  for (auto& thread : threads) thread.join();
  std::size_t hosts = 0;
  budgets.each(start, [&](std::string_view, double) { ++hosts; });
  EXPECT_LE(hosts, 4U);
}

}  // namespace
}  // namespace reprise::net
