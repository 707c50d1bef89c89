// Tests which events feed the budget, which refund it, and which failures count against the upstream
// (decision 0015).
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <tuple>
#include <vector>

#include "tests/support/play.hpp"

namespace reprise::policy {
namespace {

using namespace std::chrono_literals;
using play::epoch;

const AttemptReport sent{false, Sent::maybe, true, Idempotency::yes};
const AttemptReport unsent{false, Sent::nothing, true, Idempotency::yes};
const Facts get{Idempotency::yes, true, false, {}};

// Each first attempt adds one retry to the budget. Nothing else adds retries.
struct SharedBudget : testing::Test {
  SharedBudget() { policy.budget = account; }
  BudgetPolicy account{1, 0, 1h};
  RoutePolicy policy;
  Budget budget{account};
  Circuit circuit{CircuitPolicy{0.5, 10s, 4, 1h}};
  HostPause pause;
  play::LoadedDice dice = play::LoadedDice::lowest();
  Exchange exchange() { return Exchange(policy, get, {&budget, &circuit, &pause}, epoch); }
  double left() { return budget.left(epoch); }
};

TEST_F(SharedBudget, L12_open_circuit_adds_nothing_to_the_retry_budget) {
  for (int i = 0; i < 4; ++i) circuit.failed(epoch, epoch);
  for (int i = 0; i < 1000; ++i) std::ignore = exchange().begin(epoch, dice);
  EXPECT_EQ(left(), 0);
}

TEST_F(SharedBudget, L12_requests_rejected_by_a_host_pause_add_nothing_to_the_budget) {
  pause.ask(epoch + 10s);
  policy.while_paused = WhilePaused::fail;
  for (int i = 0; i < 1000; ++i) std::ignore = exchange().begin(epoch, dice);
  EXPECT_EQ(left(), 0);
}

TEST_F(SharedBudget, L12_locally_caused_failures_add_nothing_to_the_budget) {
  for (const Cause cause : {Cause::address_denied, Cause::address_is_self, Cause::no_descriptor}) {
    Exchange one = exchange();
    std::ignore = one.begin(epoch, dice);
    std::ignore = one.failed(unsent, {Stage::connect, cause}, epoch, dice);
    EXPECT_EQ(left(), 0);
  }
}

TEST_F(SharedBudget, L12_first_attempt_that_was_sent_is_added_to_the_budget_once) {
  policy.retry.max_attempts = 1;
  Exchange responded = exchange();
  std::ignore = responded.begin(epoch, dice);
  std::ignore = responded.responded(sent, {200, {}}, epoch, dice);
  EXPECT_EQ(left(), 1);
  Exchange refused = exchange();
  std::ignore = refused.begin(epoch, dice);
  std::ignore = refused.failed(unsent, {Stage::connect, Cause::refused}, epoch, dice);
  EXPECT_EQ(left(), 2) << "the upstream itself refused";
  Exchange reset = exchange();
  std::ignore = reset.begin(epoch, dice);
  std::ignore = reset.client_reset(epoch);
  EXPECT_EQ(left(), 3) << "its client left it running";
  Exchange stale = exchange();
  std::ignore = stale.begin(epoch, dice);
  std::ignore =
      stale.failed({true, Sent::nothing, true, Idempotency::yes}, {Stage::send, Cause::closed}, epoch, dice);
  std::ignore = stale.responded(sent, {200, {}}, epoch, dice);
  EXPECT_EQ(left(), 4) << "the free retry is no second first attempt";
}

TEST_F(SharedBudget, retry_that_sent_no_byte_is_refunded) {
  policy.retry.max_attempts = 9;
  Exchange one = exchange();
  std::ignore = one.begin(epoch, dice);
  std::ignore = one.responded(sent, {503, {}}, epoch, dice);
  EXPECT_EQ(left(), 0) << "scheduled";
  for (int again = 0; again < 3; ++again) {
    std::ignore = one.waited(epoch);
    EXPECT_EQ(left(), 0) << "under way";
    EXPECT_TRUE(play::waits(one.failed(unsent, {Stage::connect, Cause::refused}, epoch, dice)))
        << "one retry is enough for three dials that are refused";
    EXPECT_EQ(left(), 0) << "given back, and drawn for the next: " << again;
  }
  std::ignore = one.client_finished(epoch);
  EXPECT_EQ(left(), 1);
}

TEST_F(SharedBudget, retry_that_sent_a_byte_is_not_refunded) {
  Exchange one = exchange();
  std::ignore = one.begin(epoch, dice);
  std::ignore = one.responded(sent, {503, {}}, epoch, dice);
  std::ignore = one.waited(epoch);
  std::ignore = one.failed(sent, {Stage::await_head, Cause::reset}, epoch, dice);
  EXPECT_EQ(one.ledger().reason, Reason::budget_spent);
  EXPECT_EQ(left(), 0);
}

TEST_F(SharedBudget, free_retry_inherits_the_budget_charge_of_the_stale_attempt) {
  Exchange one = exchange();
  std::ignore = one.begin(epoch, dice);
  std::ignore = one.responded(sent, {503, {}}, epoch, dice);
  std::ignore = one.waited(epoch);
  std::ignore =
      one.failed({true, Sent::nothing, true, Idempotency::yes}, {Stage::send, Cause::closed}, epoch, dice);
  EXPECT_EQ(left(), 0) << "it stands in for a retry that was paid";
  std::ignore = one.failed(unsent, {Stage::connect, Cause::refused}, epoch, dice);
  std::ignore = one.client_finished(epoch);
  EXPECT_EQ(left(), 1) << "and burdened nobody either";
}

TEST_F(SharedBudget, retry_on_a_stale_connection_that_sent_bytes_is_not_refunded) {
  Exchange one = exchange();
  std::ignore = one.begin(epoch, dice);
  std::ignore = one.responded(sent, {503, {}}, epoch, dice);
  std::ignore = one.waited(epoch);
  std::ignore = one.failed({true, Sent::maybe, true, Idempotency::yes}, {Stage::await_head, Cause::closed},
                           epoch, dice);
  std::ignore = one.failed(unsent, {Stage::connect, Cause::refused}, epoch, dice);
  EXPECT_EQ(one.ledger().reason, Reason::budget_spent);
  EXPECT_EQ(left(), 0);
}

TEST_F(SharedBudget, resume_that_sent_no_byte_is_refunded) {
  Exchange one = exchange();
  std::ignore = one.begin(epoch, dice);
  std::ignore = one.responded(sent, {200, {}}, epoch, dice);
  std::ignore = one.body_broke({Cause::reset, true, true}, epoch, dice);
  EXPECT_EQ(left(), 0);
  std::ignore = one.waited(epoch);
  EXPECT_TRUE(play::waits(one.failed(unsent, {Stage::connect, Cause::refused}, epoch, dice)));
  std::ignore = one.client_reset(epoch);
  EXPECT_EQ(left(), 1);
}

TEST_F(SharedBudget, hedge_that_sent_no_byte_is_refunded) {
  policy.hedge = HedgePolicy{100ms};
  budget.deposit(epoch);
  Exchange one = exchange();
  std::ignore = one.begin(epoch, dice);
  std::ignore = one.hedge_due({false, Sent::maybe, true, Idempotency::yes, 1}, epoch + 100ms);
  EXPECT_EQ(left(), 1) << "its own first attempt, and a copy";
  std::ignore = one.failed({false, Sent::nothing, true, Idempotency::yes, 2},
                           {Stage::connect, Cause::refused}, epoch + 1s, dice);
  EXPECT_EQ(left(), 2);
}

TEST_F(SharedBudget, L27_local_faults_never_open_the_circuit) {
  policy.retry.max_attempts = 1;
  for (std::uint8_t i = 0; i < cause_count; ++i) {
    const auto cause = static_cast<Cause>(i);
    Circuit one(CircuitPolicy{0.5, 10s, 1, 5s});
    Exchange failing(policy, get, {nullptr, &one, nullptr}, epoch);
    std::ignore = failing.begin(epoch, dice);
    std::ignore = failing.failed(unsent, {Stage::connect, cause}, epoch, dice);
    const bool open = one.state(epoch) == Circuit::State::open;
    const bool concerns_no_host = is_fault_of_ours(cause) || cause == Cause::not_http2;
    EXPECT_EQ(open, !concerns_no_host) << word(cause);
  }
  for (const Cause ours : {Cause::no_descriptor, Cause::no_local_port, Cause::dns_error, Cause::dns_timeout,
                           Cause::parent_unreachable, Cause::parent_timeout, Cause::parent_refused})
    EXPECT_TRUE(is_fault_of_ours(ours)) << word(ours);
  for (const Cause theirs : {Cause::refused, Cause::unreachable, Cause::connect_timeout, Cause::reset})
    EXPECT_FALSE(is_fault_of_ours(theirs)) << word(theirs);
}

TEST_F(SharedBudget, L27_probe_that_fails_for_a_local_fault_frees_the_probe_slot) {
  Circuit opened(CircuitPolicy{0.5, 10s, 1, 5s});
  opened.failed(epoch, epoch);
  Exchange probe(policy, get, {nullptr, &opened, nullptr}, epoch);
  std::ignore = probe.begin(epoch + 5s, dice);
  std::ignore = probe.failed(unsent, {Stage::connect, Cause::no_local_port}, epoch + 5s, dice);
  EXPECT_TRUE(opened.admit(epoch + 5s));
}

struct PausedHost : testing::Test {
  PausedHost() { policy.while_paused = WhilePaused::wait; }
  RoutePolicy policy;
  HostPause pause;

  static Instant until(const Actions& actions) {
    return actions.size() == 1 && std::holds_alternative<Wait>(actions[0]) ? std::get<Wait>(actions[0]).until
                                                                           : Instant{};
  }
};

TEST_F(PausedHost, L28_retries_after_a_host_pause_start_evenly_distributed_over_the_initial_backoff) {
  SeededDice dice(7);
  Hints asked;
  asked.retry_after = 10s;
  std::deque<Exchange> all;
  for (int i = 0; i < 1000; ++i)
    std::ignore =
        all.emplace_back(policy, get, HostShare(nullptr, nullptr, &pause), epoch).begin(epoch, dice);
  for (Exchange& one : all) {
    ASSERT_EQ(until(one.responded(sent, {429, asked}, epoch, dice)), epoch + 10s)
        << "its own wait is what its upstream asked for";
  }
  std::vector<Instant> starts;
  for (Exchange& one : all) {
    const Instant back = until(one.waited(epoch + 10s));
    ASSERT_GE(back, epoch + 10s);
    ASSERT_LE(back, epoch + 10s + policy.retry.backoff.initial);
    const Actions last = one.waited(back);
    ASSERT_TRUE(std::holds_alternative<Start>(last[0])) << "the spread is waited for once";
    starts.push_back(back);
  }
  const auto early = std::count_if(starts.begin(), starts.end(), [&](Instant back) {
    return back - epoch - 10s < policy.retry.backoff.initial / 2;
  });
  EXPECT_GT(early, 400);
  EXPECT_LT(early, 600);
}

TEST_F(PausedHost, L28_retry_due_during_a_host_pause_starts_a_random_time_after_its_end) {
  play::LoadedDice dice = play::LoadedDice::highest();
  Exchange one(policy, get, {nullptr, nullptr, &pause}, epoch);
  std::ignore = one.begin(epoch, dice);
  const Instant due = until(one.responded(sent, {503, {}}, epoch, dice));
  pause.ask(epoch + 7s);
  EXPECT_EQ(until(one.waited(due)), epoch + 7s + policy.retry.backoff.initial);
}

TEST_F(PausedHost, L28_retry_due_after_the_pause_starts_at_once) {
  play::LoadedDice dice = play::LoadedDice::highest();
  Exchange one(policy, get, {nullptr, nullptr, &pause}, epoch);
  std::ignore = one.begin(epoch, dice);
  const Instant due = until(one.responded(sent, {503, {}}, epoch, dice));
  pause.ask(due - 1ms);
  EXPECT_TRUE(std::holds_alternative<Start>(one.waited(due)[0]));
}

TEST_F(PausedHost, L28_random_wait_after_a_pause_is_skipped_if_it_does_not_fit_the_deadline) {
  play::LoadedDice dice = play::LoadedDice::highest();
  policy.retry.deadline = 10s;
  Hints asked;
  asked.retry_after = 10s;
  Exchange one(policy, get, {nullptr, nullptr, &pause}, epoch);
  std::ignore = one.begin(epoch, dice);
  const Instant due = until(one.responded(sent, {429, asked}, epoch, dice));
  ASSERT_EQ(due, epoch + 10s);
  EXPECT_TRUE(std::holds_alternative<Start>(one.waited(due)[0]));
}

}  // namespace
}  // namespace reprise::policy
