// Gates: each is closed from exactly the edge on that its header names.
#include "proxy/policy/gates.hpp"

#include <gtest/gtest.h>

namespace reprise::policy {
namespace {

using namespace std::chrono_literals;

constexpr Instant noon{std::chrono::hours(12)};

TEST(Gates, ANestedClientIsRefusedOnlyWhereItIsOneAndTheRouteSaysSo) {
  RoutePolicy policy;
  Facts facts;
  facts.nested = true;
  EXPECT_FALSE(refuses_nested_client(facts, policy));
  policy.retry.nested = Nested::refuse;
  EXPECT_TRUE(refuses_nested_client(facts, policy));
  facts.nested = false;
  EXPECT_FALSE(refuses_nested_client(facts, policy));
}

TEST(Gates, AResponseThatWasRetriedBehindUsHasASwitchOfItsOwn) {
  RoutePolicy policy;
  Hints hints;
  EXPECT_FALSE(refuses_retried_response(hints, policy));
  hints.from_reprise = true;
  EXPECT_TRUE(refuses_retried_response(hints, policy));
  policy.retry.inner = Nested::allow;
  policy.retry.nested = Nested::refuse;
  EXPECT_FALSE(refuses_retried_response(hints, policy));
}

TEST(Gates, ASignatureAndADeadlineHoldToTheirLastInstant) {
  Facts facts;
  EXPECT_TRUE(is_signed_at(facts, Instant::max()));
  facts.signed_until = noon;
  EXPECT_TRUE(is_signed_at(facts, noon));
  EXPECT_FALSE(is_signed_at(facts, noon + 1ns));
  EXPECT_TRUE(is_in_time(std::nullopt, Instant::max()));
  EXPECT_TRUE(is_in_time(noon, noon));
  EXPECT_FALSE(is_in_time(noon, noon + 1ns));
}

TEST(Gates, WhatAnUpstreamAsksForCountsOnlyWhereItIsHonoured) {
  RoutePolicy policy;
  policy.retry.retry_after.maximum = 10s;
  Hints said;
  EXPECT_FALSE(asks_for_too_long(said, policy));
  said.retry_after = 10s;
  EXPECT_FALSE(asks_for_too_long(said, policy));
  said.retry_after = 10s + 1ns;
  EXPECT_TRUE(asks_for_too_long(said, policy));
  EXPECT_EQ(honoured(said, policy).retry_after, said.retry_after);
  policy.retry.retry_after.honour = false;
  EXPECT_EQ(honoured(said, policy).retry_after, std::nullopt);
}

TEST(Gates, TheLastOfThemAreAskedInThisOrder) {
  RoutePolicy policy;
  Facts facts;
  EXPECT_EQ(last_closed_gate(facts, policy, noon, 1), std::nullopt);
  policy.mode = Mode::observe;
  EXPECT_EQ(last_closed_gate(facts, policy, noon, 1), Reason::observe_only);
  EXPECT_EQ(last_closed_gate(facts, policy, noon, 0.99), Reason::budget_spent);
  facts.signed_until = noon;
  EXPECT_EQ(last_closed_gate(facts, policy, noon, 0.99), Reason::budget_spent);
  EXPECT_EQ(last_closed_gate(facts, policy, noon + 1ns, 0.99), Reason::signature_expired);
}

TEST(Gates, AttemptsAndBudgetsAreSpentAtTheirEdge) {
  EXPECT_FALSE(are_attempts_spent(1'000'000, std::nullopt));
  EXPECT_FALSE(are_attempts_spent(3, 4U));
  EXPECT_TRUE(are_attempts_spent(4, 4U));
  EXPECT_FALSE(is_budget_empty(1));
  EXPECT_TRUE(is_budget_empty(0.99));
}

}  // namespace
}  // namespace reprise::policy
