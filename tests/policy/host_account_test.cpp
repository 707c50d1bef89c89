// Tests what one request takes from its host's budget, circuit and pause, and what it refunds and reports.
#include "proxy/policy/decision/host_account.hpp"

#include <gtest/gtest.h>

#include "tests/support/script.hpp"

namespace reprise::policy::host_account_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant noon{std::chrono::hours(12)};
constexpr Failed refused{Stage::connect, Cause::refused};

struct HostAccountTest : testing::Test {
  HostAccountTest() {
    policy.while_paused = WhilePaused::wait;
    policy.retry.backoff.initial = 100ms;
  }

  HostAccount account() { return HostAccount({&budget, &circuit, &pause}, policy); }
  void open_circuit() {
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(circuit.admit(noon));
      circuit.failed(noon, noon);
    }
  }

  RoutePolicy policy;
  // The floor of the budget allows two retries. The ratio is 0 and allows no others.
  Budget budget{BudgetPolicy{0, 0.25, 10s}};
  Circuit circuit{CircuitPolicy{0.5, 10s, 2, 5s}};
  HostPause pause;
  play::LoadedDice dice = play::LoadedDice::highest();
  AttemptReport unsent;
};

template <typename Kind>
const Kind* as(const HostAccount::Admission& admission) {
  return std::get_if<Kind>(&admission);
}

TEST_F(HostAccountTest, request_is_always_admitted_if_neither_budget_nor_circuit_nor_pause_is_shared) {
  HostAccount alone({}, policy);
  EXPECT_NE(as<HostAccount::Admitted>(alone.admit(noon, noon - 1s, std::nullopt)), nullptr);
  EXPECT_EQ(alone.admit_copy(Reason::hedged, noon), Reason::hedged);
  EXPECT_TRUE(alone.pay_for_retry(noon));
  EXPECT_FALSE(alone.account_for(1, 1, unsent, refused, noon));
  EXPECT_GT(alone.budget_left(noon), 1e9);
}

TEST_F(HostAccountTest, request_waits_for_the_end_of_a_host_pause_plus_a_random_time) {
  pause.ask(noon + 1s);
  HostAccount one = account();
  one.draw_spread(dice);
  const auto admission = one.admit(noon, std::nullopt, std::nullopt);
  ASSERT_NE(as<HostAccount::Paused>(admission), nullptr);
  EXPECT_EQ(as<HostAccount::Paused>(admission)->until, noon + 1s + 100ms);
  EXPECT_NE(as<HostAccount::Admitted>(one.admit(noon + 1s + 100ms, std::nullopt, noon + 1s)), nullptr);
}

TEST_F(HostAccountTest, request_is_refused_if_a_pause_exceeds_the_deadline_or_is_not_waited_for) {
  pause.ask(noon + 1s);
  const auto late = account().admit(noon, noon + 999ms, std::nullopt);
  ASSERT_NE(as<HostAccount::Refused>(late), nullptr);
  EXPECT_EQ(as<HostAccount::Refused>(late)->reason, Reason::host_paused);
  policy.while_paused = WhilePaused::fail;
  EXPECT_NE(as<HostAccount::Refused>(account().admit(noon, std::nullopt, std::nullopt)), nullptr);
  policy.while_paused = WhilePaused::go;
  EXPECT_NE(as<HostAccount::Admitted>(account().admit(noon, std::nullopt, std::nullopt)), nullptr);
}

TEST_F(HostAccountTest, request_is_refused_while_the_circuit_is_open) {
  open_circuit();
  const auto admission = account().admit(noon, std::nullopt, std::nullopt);
  ASSERT_NE(as<HostAccount::Refused>(admission), nullptr);
  EXPECT_EQ(as<HostAccount::Refused>(admission)->reason, Reason::circuit_open);
}

TEST_F(HostAccountTest, hedge_takes_one_retry_and_is_refused_when_none_is_left) {
  HostAccount one = account();
  EXPECT_EQ(one.admit_copy(Reason::hedged, noon), Reason::hedged);
  EXPECT_EQ(one.budget_left(noon), 1);
  EXPECT_EQ(one.admit_copy(Reason::observe_only, noon), Reason::observe_only);
  EXPECT_EQ(one.admit_copy(Reason::hedged, noon), Reason::budget_spent);
}

TEST_F(HostAccountTest, hedge_costs_nothing_when_the_circuit_refuses_it) {
  open_circuit();
  HostAccount one = account();
  EXPECT_EQ(one.admit_copy(Reason::hedged, noon), Reason::circuit_open);
  EXPECT_EQ(one.budget_left(noon), 2);
  one.refund_retry(noon);
  EXPECT_EQ(one.budget_left(noon), 2) << "there is nothing to give back";
}

TEST_F(HostAccountTest, hedge_is_refused_while_the_host_is_paused) {
  pause.ask(noon + 1s);
  EXPECT_EQ(account().admit_copy(Reason::hedged, noon), Reason::host_paused);
}

TEST_F(HostAccountTest, hedge_is_admitted_when_the_route_ignores_pauses) {
  pause.ask(noon + 1s);
  policy.while_paused = WhilePaused::go;
  EXPECT_EQ(account().admit_copy(Reason::hedged, noon), Reason::hedged);
}

TEST_F(HostAccountTest, retry_is_refunded_once_when_it_sent_nothing) {
  HostAccount one = account();
  ASSERT_TRUE(one.pay_for_retry(noon));
  EXPECT_FALSE(one.account_for(1, 2, unsent, refused, noon)) << "attempt 2 was paid for";
  EXPECT_TRUE(one.account_for(2, 2, unsent, refused, noon));
  EXPECT_EQ(one.budget_left(noon), 2);
  EXPECT_FALSE(one.account_for(2, 2, unsent, refused, noon));
}

TEST_F(HostAccountTest, retry_is_not_refunded_when_bytes_were_sent) {
  HostAccount one = account();
  ASSERT_TRUE(one.pay_for_retry(noon));
  AttemptReport report;
  report.sent = Sent::maybe;
  EXPECT_FALSE(one.account_for(2, 2, report, Failed{Stage::await_head, Cause::reset}, noon));
  EXPECT_EQ(one.budget_left(noon), 1);
}

TEST_F(HostAccountTest, free_retry_of_a_stale_connection_is_charged_only_if_the_stale_attempt_was_refunded) {
  HostAccount one = account();
  ASSERT_TRUE(one.pay_for_retry(noon));
  one.pass_payment_on(false, noon);
  one.refund_retry(noon);
  EXPECT_EQ(one.budget_left(noon), 1) << "what paid for the stale attempt is spent";
  one.pass_payment_on(true, noon);
  EXPECT_EQ(one.budget_left(noon), 0);
  one.refund_retry(noon);
  EXPECT_EQ(one.budget_left(noon), 1);
}

TEST_F(HostAccountTest, retry_in_observe_mode_is_never_refunded) {
  HostAccount one = account();
  one.pay_for_observed(noon);
  one.refund_retry(noon);
  EXPECT_EQ(one.budget_left(noon), 1);
  EXPECT_EQ(one.budget_last_seen(), 1);
}

// Returns true if two attempts with that failure open the circuit.
bool opens_circuit(HostAccount account, Circuit& circuit, const Failed& failure) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(circuit.admit(noon));
    account.report(failure, {true, 100ms, Reason::retryable_failure}, noon, noon);
  }
  return !circuit.admit(noon);
}

TEST_F(HostAccountTest, M85_requests_that_the_upstream_gave_back_do_not_open_the_circuit) {
  for (const Cause cause : {Cause::stream_refused, Cause::goaway}) {
    Failed given_back{Stage::await_head, cause};
    given_back.unprocessed = true;
    EXPECT_FALSE(opens_circuit(account(), circuit, given_back)) << word(cause);
  }
  EXPECT_FALSE(opens_circuit(account(), circuit, {Stage::connect, Cause::not_http2}));
  EXPECT_TRUE(opens_circuit(account(), circuit, {Stage::await_head, Cause::stream_refused}))
      << "with `refused_stream: doubt`";
}

TEST_F(HostAccountTest, M85_attempt_that_was_given_back_leaves_its_place_in_the_budget_to_the_next) {
  Budget halves(BudgetPolicy{0.5, 0, 10s});
  Failed given_back{Stage::await_head, Cause::stream_refused};
  given_back.unprocessed = true;
  AttemptReport sent;
  sent.sent = Sent::maybe;
  for (int i = 0; i < 2; ++i) {
    HostAccount one({&halves}, policy);
    EXPECT_FALSE(one.account_for(1, 1, sent, given_back, noon));
    EXPECT_FALSE(one.account_for(2, 2, sent, given_back, noon));
    EXPECT_EQ(one.budget_left(noon), 0);
    EXPECT_FALSE(one.account_for(3, 3, sent, Responded{200, {}}, noon));
  }
  EXPECT_EQ(halves.left(noon), 1) << "two requests feed a budget with the ratio 0.5 by one retry";
}

TEST_F(HostAccountTest, first_attempt_is_counted_once) {
  Budget halves(BudgetPolicy{0.5, 0, 10s});
  HostAccount one({&halves}, policy);
  one.count_first(noon);
  one.count_first(noon);
  EXPECT_EQ(one.budget_left(noon), 0);
  HostAccount other({&halves}, policy);
  other.count_first(noon);
  EXPECT_EQ(one.budget_left(noon), 1);
}

TEST_F(HostAccountTest, pause_caused_by_a_retry_hint_is_capped_at_the_maximum_of_the_route) {
  policy.retry.retry_after.maximum = 2s;
  HostAccount one = account();
  Hints hints;
  hints.retry_after = 1h;
  one.report(Responded{503, hints}, {false, {}, Reason::upstream_said_later}, noon, noon);
  EXPECT_EQ(pause.end(), noon + 2s);
}

TEST_F(HostAccountTest, probe_of_a_circuit_frees_the_probe_slot_if_its_attempt_is_discarded) {
  open_circuit();
  HostAccount one = account();
  ASSERT_NE(as<HostAccount::Admitted>(one.admit(noon + 5s, std::nullopt, std::nullopt)), nullptr);
  EXPECT_FALSE(circuit.admit(noon + 5s));
  one.discard(noon + 5s);
  EXPECT_TRUE(circuit.admit(noon + 5s));
}

}  // namespace
}  // namespace reprise::policy::host_account_test
