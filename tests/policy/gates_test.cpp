// Tests that each gate closes exactly at the limit that gates.hpp documents.
#include "proxy/policy/decision/gates.hpp"

#include <gtest/gtest.h>

#include "tests/support/ledger_of.hpp"

namespace reprise::policy {
namespace {

using namespace std::chrono_literals;

constexpr Instant noon{std::chrono::hours(12)};

TEST(Gates, nested_client_is_refused_only_if_the_route_refuses_nested_retries) {
  RoutePolicy policy;
  Facts facts;
  facts.nested = true;
  EXPECT_FALSE(refuses_nested_client(facts, policy));
  policy.retry.nested = Nested::refuse;
  EXPECT_TRUE(refuses_nested_client(facts, policy));
  facts.nested = false;
  EXPECT_FALSE(refuses_nested_client(facts, policy));
}

TEST(Gates, response_already_retried_by_an_inner_proxy_is_judged_by_the_setting_retry_inner) {
  RoutePolicy policy;
  Hints hints;
  EXPECT_FALSE(refuses_retried_response(hints, policy));
  hints.from_reprise = true;
  EXPECT_TRUE(refuses_retried_response(hints, policy));
  policy.retry.inner = Nested::allow;
  policy.retry.nested = Nested::refuse;
  EXPECT_FALSE(refuses_retried_response(hints, policy));
}

TEST(Gates, signature_and_deadline_are_still_valid_at_their_last_instant) {
  Facts facts;
  EXPECT_TRUE(is_signed_at(facts, Instant::max()));
  facts.signed_until = noon;
  EXPECT_TRUE(is_signed_at(facts, noon));
  EXPECT_FALSE(is_signed_at(facts, noon + 1ns));
  EXPECT_TRUE(is_in_time(std::nullopt, Instant::max()));
  EXPECT_TRUE(is_in_time(noon, noon));
  EXPECT_FALSE(is_in_time(noon, noon + 1ns));
}

TEST(Gates, retry_hint_above_the_maximum_counts_only_if_hints_are_honoured) {
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

TEST(Gates, gates_are_checked_in_the_order_signature_then_budget_then_mode) {
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

TEST(Gates, attempts_are_spent_at_max_attempts_and_the_budget_is_empty_below_one_retry) {
  EXPECT_FALSE(are_attempts_spent(1'000'000, std::nullopt));
  EXPECT_FALSE(are_attempts_spent(3, 4U));
  EXPECT_TRUE(are_attempts_spent(4, 4U));
  EXPECT_FALSE(is_budget_empty(1));
  EXPECT_TRUE(is_budget_empty(0.99));
}

/// Returns the ledger of a request that had one attempt, with this outcome.
Ledger broken_once(const Outcome& outcome, Reason reason = Reason::not_idempotent, bool reused = false) {
  Ledger ledger = play::ledger_of(outcome, reason);
  ledger[0].attempt.reused = reused;
  return ledger;
}

TEST(ClosesLikeUpstream, D8_auto_mode_closes_the_connection_only_for_clients_unaware_of_the_proxy) {
  const RoutePolicy policy;
  const Ledger broken = broken_once(Failed{Stage::await_head, Cause::closed});
  Facts facts;
  EXPECT_FALSE(closes_like_upstream(facts, broken, policy)) << "it asked a proxy";
  facts.unaware_client = true;
  EXPECT_TRUE(closes_like_upstream(facts, broken, policy));
  facts.first_of_connection = false;
  EXPECT_FALSE(closes_like_upstream(facts, broken, policy)) << "a JDK would send it again where we would not";
  EXPECT_TRUE(closes_like_upstream(
      facts, broken_once(Failed{Stage::send, Cause::reset}, Reason::not_idempotent, true), policy))
      << "and it would have done so without us";
}

TEST(ClosesLikeUpstream, D8_client_connection_is_closed_only_if_its_single_attempt_was_sent_and_got_no_byte) {
  RoutePolicy policy;
  policy.on_broken = OnBroken::close;
  const Failed closed{Stage::await_head, Cause::closed};
  EXPECT_TRUE(closes_like_upstream({}, broken_once(closed), policy));
  EXPECT_FALSE(closes_like_upstream({}, broken_once(closed, Reason::attempts_spent), policy));
  EXPECT_FALSE(closes_like_upstream({}, broken_once(Failed{Stage::head, Cause::closed}), policy));
  EXPECT_FALSE(
      closes_like_upstream({}, broken_once(Failed{Stage::await_head, Cause::response_timeout}), policy));
  EXPECT_FALSE(closes_like_upstream({}, broken_once(Failed{Stage::connect, Cause::refused}), policy));
  EXPECT_FALSE(closes_like_upstream({}, broken_once(Responded{503, {}}), policy));
  Ledger repeated = broken_once(closed);
  repeated.add(repeated.back());
  EXPECT_FALSE(closes_like_upstream({}, repeated, policy)) << "after a repeat always a response";
  policy.on_broken = OnBroken::respond;
  EXPECT_FALSE(closes_like_upstream({}, broken_once(closed), policy));
}

}  // namespace
}  // namespace reprise::policy
