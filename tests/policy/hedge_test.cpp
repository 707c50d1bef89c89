// Tests hedges of slow requests: every transition of the exchange that concerns them, and every closed gate.
#include "proxy/policy/decision/hedge.hpp"

#include <gtest/gtest.h>
#include <tuple>

#include "proxy/policy/decision/exchange.hpp"
#include "tests/support/script.hpp"

namespace reprise::policy::hedge_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant epoch{std::chrono::hours(1)};
const Facts get{Idempotency::yes, true, false};

AttemptReport of(unsigned number) { return {false, Sent::maybe, true, Idempotency::yes, number}; }

template <typename Kind>
const Kind* at(const Actions& actions, std::size_t i) {
  return i < actions.size() ? std::get_if<Kind>(&actions[i]) : nullptr;
}

struct HedgeTest : testing::Test {
  HedgeTest() { policy.hedge = HedgePolicy{200ms}; }

  Exchange exchange(HostShare host = {}, ObservedLatency* latency = nullptr) const {
    return Exchange(policy, get, host, epoch, latency);
  }
  // Starts attempt 1 at `epoch` and its hedge 200 ms later.
  void race(Exchange& exchange) {
    std::ignore = exchange.begin(epoch, dice);
    const Actions asked = exchange.hedge_due(of(1), epoch + 200ms);
    ASSERT_NE(at<Start>(asked, 0), nullptr);
    EXPECT_EQ(at<Start>(asked, 0)->number, 2U);
  }

  RoutePolicy policy;
  play::LoadedDice dice = play::LoadedDice::highest();
};

TEST_F(HedgeTest, hedge_is_due_after_the_fixed_delay) {
  Exchange one = exchange();
  EXPECT_EQ(one.hedge_at(), std::nullopt);
  std::ignore = one.begin(epoch, dice);
  EXPECT_EQ(one.hedge_at(), epoch + 200ms);
}

TEST_F(HedgeTest, hedge_is_due_after_the_observed_p95) {
  policy.hedge->after.reset();
  ObservedLatency latency;
  Exchange too_early = exchange({}, &latency);
  std::ignore = too_early.begin(epoch, dice);
  EXPECT_EQ(too_early.hedge_at(), std::nullopt);
  for (int i = 1; i <= 100; ++i) latency.add(i * 1ms);
  Exchange one = exchange({}, &latency);
  std::ignore = one.begin(epoch, dice);
  EXPECT_EQ(one.hedge_at(), epoch + 95ms);
}

TEST_F(HedgeTest, hedge_is_never_due_without_a_hedge_policy_or_in_mode_off) {
  policy.hedge.reset();
  Exchange none = exchange();
  std::ignore = none.begin(epoch, dice);
  EXPECT_EQ(none.hedge_at(), std::nullopt);
  policy.hedge = HedgePolicy{};
  policy.mode = Mode::off;
  Exchange off = exchange();
  std::ignore = off.begin(epoch, dice);
  EXPECT_EQ(off.hedge_at(), std::nullopt);
}

TEST_F(HedgeTest, only_the_first_attempt_is_hedged) {
  Exchange one = exchange();
  std::ignore = one.begin(epoch, dice);
  std::ignore = one.responded(of(1), {503, {}}, epoch + 10ms, dice);
  EXPECT_EQ(one.hedge_at(), std::nullopt);
  std::ignore = one.waited(epoch + 300ms);
  EXPECT_EQ(one.hedge_at(), std::nullopt);
  EXPECT_EQ(one.hedge_due(of(2), epoch + 600ms).size(), 0U);
}

TEST_F(HedgeTest, hedge_is_due_only_once) {
  Exchange one = exchange();
  race(one);
  EXPECT_EQ(one.hedge_at(), std::nullopt);
  EXPECT_EQ(one.hedge_due(of(1), epoch + 400ms).size(), 0U);
}

TEST_F(HedgeTest, winning_hedge_is_delivered_and_the_first_attempt_cancelled) {
  Exchange one = exchange();
  race(one);
  const Actions asked = one.responded(of(2), {200, {}}, epoch + 250ms, dice);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(at<Cancel>(asked, 0)->number, 1U);
  EXPECT_EQ(at<Deliver>(asked, 1)->number, 2U);
  const Ledger& ledger = one.ledger();
  ASSERT_EQ(ledger.size(), 2U);
  EXPECT_EQ(ledger.hedge, HedgeOutcome::won);
  EXPECT_EQ(ledger.reason, Reason::success);
  EXPECT_EQ(ledger[0].verdict.reason, Reason::hedged);
  EXPECT_EQ(ledger[0].verdict.delay, 200ms);
  EXPECT_EQ(std::get<Failed>(ledger[0].outcome).cause, Cause::cancelled);
  EXPECT_EQ(ledger[0].ended, epoch + 250ms);
  EXPECT_EQ(ledger[1].started, epoch + 200ms);
  EXPECT_EQ(std::get<Responded>(ledger[1].outcome).status, 200);
  EXPECT_FALSE(ledger.retried()) << "it was slow, it had not failed";
}

TEST_F(HedgeTest, winning_first_attempt_is_delivered_and_the_hedge_cancelled) {
  Exchange one = exchange();
  race(one);
  const Actions asked = one.responded(of(1), {200, {}}, epoch + 250ms, dice);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(at<Cancel>(asked, 0)->number, 2U);
  EXPECT_EQ(at<Deliver>(asked, 1)->number, 1U);
  const Ledger& ledger = one.ledger();
  ASSERT_EQ(ledger.size(), 2U);
  EXPECT_EQ(ledger.hedge, HedgeOutcome::lost);
  EXPECT_EQ(std::get<Responded>(ledger[0].outcome).status, 200);
  EXPECT_EQ(std::get<Failed>(ledger[1].outcome).cause, Cause::cancelled);
  EXPECT_EQ(ledger[1].verdict.reason, Reason::success);
  EXPECT_FALSE(ledger.retried());
}

TEST_F(HedgeTest, response_with_a_status_that_is_not_retryable_wins_the_race_too) {
  Exchange one = exchange();
  race(one);
  const Actions asked = one.responded(of(2), {404, {}}, epoch + 250ms, dice);
  EXPECT_EQ(at<Deliver>(asked, 1)->number, 2U);
  EXPECT_EQ(one.ledger().reason, Reason::not_retryable);
}

TEST_F(HedgeTest, race_of_two_attempts_waits_for_the_other_when_one_fails) {
  for (const unsigned failing : {1U, 2U}) {
    const unsigned other = 3 - failing;
    Exchange one = exchange();
    race(one);
    EXPECT_EQ(one.responded(of(failing), {503, {}}, epoch + 210ms, dice).size(), 0U);
    EXPECT_EQ(one.responded(of(failing), {200, {}}, epoch + 220ms, dice).size(), 0U) << "it has ended";
    const Actions asked = one.responded(of(other), {200, {}}, epoch + 250ms, dice);
    ASSERT_EQ(asked.size(), 1U) << "nobody is left to cancel";
    EXPECT_EQ(at<Deliver>(asked, 0)->number, other);
    ASSERT_EQ(one.ledger().size(), 2U);
    EXPECT_EQ(std::get<Responded>(one.ledger()[failing - 1].outcome).status, 503);
    EXPECT_EQ(one.ledger()[failing - 1].ended, epoch + 210ms);
    EXPECT_EQ(one.ledger().hedge, other == 2 ? HedgeOutcome::won : HedgeOutcome::failed);
    EXPECT_EQ(one.ledger().retried(), other == 2) << "only the copy repaired a failure";
  }
}

TEST_F(HedgeTest, hedge_that_wins_after_the_first_attempt_failed_counts_as_a_retry) {
  Exchange one = exchange();
  race(one);
  std::ignore = one.failed(of(1), {Stage::await_head, Cause::reset}, epoch + 210ms, dice);
  std::ignore = one.responded(of(2), {200, {}}, epoch + 250ms, dice);
  EXPECT_EQ(one.ledger().hedge, HedgeOutcome::won);
  EXPECT_TRUE(one.ledger().retried());
}

TEST_F(HedgeTest, hedge_is_due_only_for_the_running_attempt) {
  Exchange one = exchange();
  std::ignore = one.begin(epoch, dice);
  EXPECT_EQ(one.hedge_due(of(2), epoch + 200ms).size(), 0U);
  EXPECT_EQ(one.ledger().hedge, HedgeOutcome::none);
  EXPECT_NE(at<Start>(one.hedge_due(of(1), epoch + 900ms), 0), nullptr) << "it is still due, even later";
}

// While both attempts run, a report must have the number of its attempt. When only one attempt runs, the
// report may omit the number.
TEST_F(HedgeTest, report_without_an_attempt_number_counts_only_while_one_attempt_runs) {
  for (const unsigned failing : {1U, 2U}) {
    Exchange one = exchange();
    race(one);
    EXPECT_EQ(one.responded(of(0), {200, {}}, epoch + 210ms, dice).size(), 0U);
    EXPECT_EQ(one.responded(of(3), {200, {}}, epoch + 210ms, dice).size(), 0U) << "no such copy";
    std::ignore = one.failed(of(failing), {Stage::await_head, Cause::reset}, epoch + 220ms, dice);
    const Actions asked = one.responded(of(0), {200, {}}, epoch + 250ms, dice);
    ASSERT_NE(at<Deliver>(asked, 0), nullptr);
    EXPECT_EQ(at<Deliver>(asked, 0)->number, 3 - failing);
  }
}

TEST_F(HedgeTest, retry_starts_once_both_attempts_have_failed) {
  for (const unsigned last : {1U, 2U}) {
    Exchange one = exchange();
    race(one);
    std::ignore = one.responded(of(3 - last), {503, {}}, epoch + 210ms, dice);
    const Actions asked = one.failed(of(last), {Stage::await_head, Cause::reset}, epoch + 250ms, dice);
    ASSERT_NE(at<Wait>(asked, 0), nullptr);
    EXPECT_EQ(at<Wait>(asked, 0)->until, epoch + 250ms + 500ms)
        << "the second wait: two attempts are charged";
    EXPECT_EQ(one.ledger().hedge, HedgeOutcome::failed);
    EXPECT_EQ(one.ledger().back().verdict.reason, Reason::retryable_failure);
    EXPECT_EQ(one.ledger()[0].verdict.reason, Reason::hedged);
    one.response_kept();
    EXPECT_EQ(at<Start>(one.waited(epoch + 1s), 0)->number, 3U);
    std::ignore = one.failed(of(3), {Stage::await_head, Cause::reset}, epoch + 1s, dice);
    std::ignore = one.waited(epoch + 5s);
    std::ignore = one.failed(of(4), {Stage::await_head, Cause::reset}, epoch + 6s, dice);
    std::ignore = one.waited(epoch + 10s);
    std::ignore = one.failed(of(5), {Stage::await_head, Cause::reset}, epoch + 11s, dice);
    std::ignore = one.waited(epoch + 20s);
    const Actions end = one.failed(of(6), {Stage::await_head, Cause::reset}, epoch + 21s, dice);
    EXPECT_EQ(at<Deliver>(end, 0)->number, 3 - last) << "the last response, although others failed after it";
    EXPECT_EQ(one.ledger().reason, Reason::attempts_spent);
  }
}

TEST_F(HedgeTest, stale_connection_of_one_attempt_is_not_retried_during_a_race) {
  Exchange one = exchange();
  race(one);
  AttemptReport stale = of(1);
  stale.reused = true;
  EXPECT_EQ(one.failed(stale, {Stage::await_head, Cause::closed}, epoch + 210ms, dice).size(), 0U);
  const Actions asked = one.failed(of(2), {Stage::await_head, Cause::reset}, epoch + 220ms, dice);
  EXPECT_NE(at<Wait>(asked, 0), nullptr);
}

TEST_F(HedgeTest, response_421_or_a_status_of_retry_refused_loses_to_the_attempt_still_running) {
  policy.retry.refused.statuses.set(409);
  for (const int status : {421, 409}) {
    Exchange one = exchange();
    race(one);
    EXPECT_EQ(one.responded(of(1), {status, {}}, epoch + 210ms, dice).size(), 0U);
    EXPECT_EQ(at<Deliver>(one.responded(of(2), {200, {}}, epoch + 220ms, dice), 0)->number, 2U);
  }
}

TEST_F(HedgeTest, client_reset_cancels_both_attempts_and_enters_what_one_has_reported) {
  Exchange one = exchange();
  race(one);
  const StoppedAttempt stopped{of(2), Stage::send};
  const Actions asked = one.client_reset(epoch + 250ms, stopped);
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(at<Cancel>(asked, 0)->number, 1U);
  EXPECT_EQ(at<Cancel>(asked, 1)->number, 2U);
  EXPECT_NE(at<Leave>(asked, 2), nullptr);
  ASSERT_EQ(one.ledger().size(), 2U);
  EXPECT_EQ(std::get<Failed>(one.ledger()[0].outcome).stage, Stage::await_head);
  EXPECT_EQ(std::get<Failed>(one.ledger()[1].outcome).stage, Stage::send);
  EXPECT_EQ(one.ledger().hedge, HedgeOutcome::cancelled);
  EXPECT_EQ(one.ledger().back().verdict.reason, Reason::client_gone);
  EXPECT_TRUE(one.over());
}

TEST_F(HedgeTest, client_reset_cancels_the_attempt_still_running) {
  for (const unsigned failing : {1U, 2U}) {
    Exchange one = exchange();
    race(one);
    std::ignore = one.failed(of(failing), {Stage::await_head, Cause::reset}, epoch + 210ms, dice);
    const Actions asked = one.client_reset(epoch + 250ms);
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(at<Cancel>(asked, 0)->number, 3 - failing);
    ASSERT_EQ(one.ledger().size(), 2U);
    EXPECT_EQ(one.ledger().back().verdict.reason, Reason::client_gone);
    EXPECT_EQ(one.ledger().hedge, failing == 2 ? HedgeOutcome::failed : HedgeOutcome::cancelled);
  }
}

TEST_F(HedgeTest, half_closed_client_does_not_end_running_attempts_but_gets_no_new_hedge) {
  Exchange running = exchange();
  race(running);
  EXPECT_EQ(running.client_finished(epoch + 210ms).size(), 0U);
  EXPECT_EQ(at<Deliver>(running.responded(of(2), {200, {}}, epoch + 220ms, dice), 1)->number, 2U);
  Exchange before = exchange();
  std::ignore = before.begin(epoch, dice);
  std::ignore = before.client_finished(epoch + 100ms);
  EXPECT_EQ(before.hedge_due(of(1), epoch + 200ms).size(), 0U);
  EXPECT_EQ(before.ledger().hedge_refusal, Reason::client_gone);
  Exchange stopping = exchange();
  std::ignore = stopping.begin(epoch, dice);
  std::ignore = stopping.shutdown(epoch + 100ms);
  EXPECT_EQ(stopping.hedge_due(of(1), epoch + 200ms).size(), 0U);
  EXPECT_EQ(stopping.ledger().hedge_refusal, Reason::shutting_down);
}

// Returns why no hedge is sent. Each caller changes one argument of a request that would be hedged.
Reason refusal(const RoutePolicy& policy, const Facts& facts, AttemptReport report, HostShare host = {},
               Duration late = 200ms) {
  play::LoadedDice dice = play::LoadedDice::highest();
  Exchange one(policy, facts, host, epoch);
  std::ignore = one.begin(epoch, dice);
  EXPECT_EQ(one.hedge_due(report, epoch + late).size(), 0U);
  EXPECT_EQ(one.ledger().hedge, HedgeOutcome::refused);
  EXPECT_TRUE(one.ledger().empty()) << "nothing was written of an attempt that runs on";
  EXPECT_EQ(one.hedge_at(), std::nullopt) << "asked once";
  EXPECT_NE(at<Deliver>(one.responded(of(1), {200, {}}, epoch + 1s, dice), 0), nullptr);
  return one.ledger().hedge_refusal;
}

TEST_F(HedgeTest, every_gate_that_prevents_a_hedge_has_its_own_reason) {
  AttemptReport unsafe = of(1);
  unsafe.idempotent = Idempotency::no;
  EXPECT_EQ(refusal(policy, get, unsafe), Reason::not_idempotent);
  AttemptReport let_go = of(1);
  let_go.replayable = false;
  EXPECT_EQ(refusal(policy, get, let_go), Reason::not_replayable);
  EXPECT_EQ(refusal(policy, get, of(1), {}, 61s), Reason::deadline_too_near);
  Facts signed_facts = get;
  signed_facts.signed_until = epoch + 100ms;
  EXPECT_EQ(refusal(policy, signed_facts, of(1)), Reason::signature_expired);
  Budget spent({0, 0.1, 10s});
  ASSERT_TRUE(spent.withdraw(epoch));
  EXPECT_EQ(refusal(policy, get, of(1), &spent), Reason::budget_spent);
  RoutePolicy once = policy;
  once.retry.max_attempts = 1;
  EXPECT_EQ(refusal(once, get, of(1)), Reason::attempts_spent);
  RoutePolicy refusing = policy;
  refusing.retry.nested = Nested::refuse;
  Facts nested = get;
  nested.nested = true;
  EXPECT_EQ(refusal(refusing, nested, of(1)), Reason::nested_retry);
  EXPECT_EQ(judge_hedge(get, Attempt{}, refusing, epoch, std::nullopt, 1), Reason::hedged);
}

TEST_F(HedgeTest, paused_host_gets_no_hedge) {
  policy.while_paused = WhilePaused::wait;
  HostPause pause;
  Exchange one = exchange({nullptr, nullptr, &pause});
  std::ignore = one.begin(epoch, dice);
  pause.ask(epoch + 10s);
  std::ignore = one.hedge_due(of(1), epoch + 200ms);
  EXPECT_EQ(one.ledger().hedge_refusal, Reason::host_paused);
}

TEST_F(HedgeTest, open_circuit_prevents_the_hedge_and_refunds_the_budget) {
  Budget budget({0, 0.1, 10s});
  Circuit circuit({0.5, 10s, 1, 5s});
  Exchange one = exchange({&budget, &circuit, nullptr});
  std::ignore = one.begin(epoch, dice);
  ASSERT_TRUE(circuit.admit(epoch));
  circuit.failed(epoch, epoch);
  std::ignore = one.hedge_due(of(1), epoch + 200ms);
  EXPECT_EQ(one.ledger().hedge_refusal, Reason::circuit_open);
  EXPECT_EQ(budget.left(epoch + 200ms), 1);
}

TEST_F(HedgeTest, hedge_draws_on_the_retry_budget) {
  Budget budget({0, 0.2, 10s});
  Exchange one = exchange(&budget);
  race(one);
  EXPECT_EQ(budget.left(epoch + 200ms), 1);
  std::ignore = one.responded(of(1), {200, {}}, epoch + 250ms, dice);
  EXPECT_EQ(budget.left(epoch + 250ms), 1) << "it was sent: nothing is given back";
}

TEST_F(HedgeTest, observe_mode_records_a_hedge_without_sending_it) {
  policy.mode = Mode::observe;
  Budget shadow({0, 0.2, 10s});
  Exchange one = exchange(&shadow);
  std::ignore = one.begin(epoch, dice);
  EXPECT_EQ(one.hedge_due(of(1), epoch + 200ms).size(), 0U);
  EXPECT_EQ(one.ledger().hedge, HedgeOutcome::observed);
  EXPECT_EQ(shadow.left(epoch + 200ms), 1);
  EXPECT_NE(at<Deliver>(one.responded(of(1), {200, {}}, epoch + 250ms, dice), 0), nullptr);
}

TEST_F(HedgeTest, hedge_in_observe_mode_does_not_take_the_probe_slot_of_the_circuit) {
  policy.mode = Mode::observe;
  Circuit circuit({1.0, 10s, 1, 100ms});
  Exchange one = exchange({nullptr, &circuit, nullptr});
  std::ignore = one.begin(epoch, dice);
  circuit.failed(epoch, epoch);
  std::ignore = one.hedge_due(of(1), epoch + 200ms);
  EXPECT_EQ(one.ledger().hedge, HedgeOutcome::observed);
  EXPECT_TRUE(circuit.admit(epoch + 200ms));
}

TEST_F(HedgeTest, response_that_a_hedge_may_have_caused_is_ambiguous) {
  Exchange one(policy, {Idempotency::yes, false, false}, {}, epoch);
  race(one);
  std::ignore = one.responded(of(1), {412, {}}, epoch + 250ms, dice);
  EXPECT_TRUE(one.ledger().ambiguous) << "the copy, sent later, may have been there first";
}

TEST_F(HedgeTest, probe_of_a_half_open_circuit_is_not_hedged) {
  Circuit circuit({1.0, 10s, 1, 1s});
  ASSERT_TRUE(circuit.admit(epoch - 2s));
  circuit.failed(epoch - 2s, epoch - 2s);
  ASSERT_EQ(circuit.state(epoch), Circuit::State::half_open);
  Exchange one = exchange({nullptr, &circuit, nullptr});
  std::ignore = one.begin(epoch, dice);
  std::ignore = one.hedge_due(of(1), epoch + 200ms);
  EXPECT_EQ(one.ledger().hedge_refusal, Reason::circuit_open);
  std::ignore = one.responded(of(1), {200, {}}, epoch + 250ms, dice);
  EXPECT_EQ(circuit.state(epoch + 250ms), Circuit::State::closed);
}

// The circuit opens when every attempt that it counts has failed.
TEST_F(HedgeTest, cancelled_attempt_does_not_count_in_the_circuit) {
  Circuit circuit({1.0, 10s, 1, 5s});
  Exchange lost = exchange({nullptr, &circuit, nullptr});
  race(lost);
  std::ignore = lost.responded(of(1), {200, {}}, epoch + 250ms, dice);
  EXPECT_EQ(circuit.state(epoch + 250ms), Circuit::State::closed);
  Exchange left = exchange({nullptr, &circuit, nullptr});
  race(left);
  std::ignore = left.client_reset(epoch + 250ms);
  EXPECT_EQ(circuit.state(epoch + 250ms), Circuit::State::closed);
  Circuit fresh({1.0, 10s, 1, 5s});
  Exchange both = exchange({nullptr, &fresh, nullptr});
  race(both);
  std::ignore = both.failed(of(2), {Stage::await_head, Cause::reset}, epoch + 210ms, dice);
  EXPECT_EQ(fresh.state(epoch + 210ms), Circuit::State::open) << "a copy that failed says something";
}

TEST_F(HedgeTest, good_response_to_attempt_1_closes_the_circuit_while_its_hedge_is_cancelled) {
  Circuit circuit({1.0, 10s, 1, 100ms});
  ASSERT_TRUE(circuit.admit(epoch - 1s));
  circuit.failed(epoch - 1s, epoch - 1s);
  Exchange one = exchange({nullptr, &circuit, nullptr});
  race(one);
  ASSERT_EQ(circuit.state(epoch + 200ms), Circuit::State::half_open) << "the probe was given up after 100 ms";
  std::ignore = one.responded(of(1), {200, {}}, epoch + 250ms, dice);
  EXPECT_EQ(circuit.state(epoch + 250ms), Circuit::State::closed);
}

// Attempt 1 was admitted while the circuit was closed; its hedge is the probe of a half-open circuit.
struct HedgeProbe : HedgeTest {
  HedgeProbe() {
    std::ignore = one.begin(epoch, dice);
    circuit.failed(epoch, epoch);
    std::ignore = one.hedge_due(of(1), epoch + 200ms);
    EXPECT_FALSE(circuit.admit(epoch + 210ms)) << "the copy has the place";
  }
  Circuit circuit{{1.0, 10s, 1, 100ms}};
  Exchange one = exchange({nullptr, &circuit, nullptr});
};

TEST_F(HedgeProbe, failure_of_attempt_1_does_not_count_if_its_hedge_is_the_circuit_probe) {
  std::ignore = one.failed(of(1), {Stage::await_head, Cause::reset}, epoch + 220ms, dice);
  EXPECT_EQ(circuit.state(epoch + 220ms), Circuit::State::half_open);
  std::ignore = one.responded(of(2), {200, {}}, epoch + 230ms, dice);
  EXPECT_EQ(circuit.state(epoch + 230ms), Circuit::State::closed);
}

TEST_F(HedgeProbe, cancelled_hedge_that_is_the_circuit_probe_frees_the_probe_slot) {
  std::ignore = one.responded(of(1), {200, {}}, epoch + 220ms, dice);
  EXPECT_EQ(circuit.state(epoch + 220ms), Circuit::State::half_open);
  EXPECT_TRUE(circuit.admit(epoch + 220ms));
}

TEST_F(HedgeProbe, hedge_that_is_the_circuit_probe_frees_the_slot_on_a_stale_connection) {
  AttemptReport stale = of(2);
  stale.reused = true;
  std::ignore = one.failed(stale, {Stage::await_head, Cause::closed}, epoch + 220ms, dice);
  EXPECT_TRUE(circuit.admit(epoch + 220ms));
}

TEST_F(HedgeTest, denied_address_of_a_hedge_does_not_count_in_the_circuit) {
  Circuit circuit({0.5, 10s, 1, 5s});
  Exchange one = exchange({nullptr, &circuit, nullptr});
  race(one);
  std::ignore = one.failed(of(2), {Stage::connect, Cause::address_denied}, epoch + 210ms, dice);
  EXPECT_EQ(circuit.state(epoch + 210ms), Circuit::State::closed);
}

// The hedge has failed. Attempt 3 starts when the stale connection of the first attempt is reported.
TEST_F(HedgeTest, retry_of_a_stale_connection_after_a_failed_hedge_starts_when_the_failure_is_reported) {
  Exchange one = exchange();
  race(one);
  std::ignore = one.responded(of(2), {429, {}}, epoch + 210ms, dice);
  AttemptReport stale = of(1);
  stale.reused = true;
  const Actions asked = one.failed(stale, {Stage::await_head, Cause::closed}, epoch + 300ms, dice);
  ASSERT_NE(at<Start>(asked, 0), nullptr);
  EXPECT_TRUE(at<Start>(asked, 0)->fresh);
  std::ignore = one.responded(of(3), {200, {}}, epoch + 350ms, dice);
  EXPECT_EQ(one.ledger().back().started, epoch + 300ms);
}

// Attempt 1 delivers the body, but attempt 2 is the last entry in the ledger.
TEST_F(HedgeTest, verdict_on_a_broken_body_is_in_the_last_ledger_entry_although_the_hedge_failed) {
  for (const bool continuable : {true, false}) {
    Exchange one = exchange();
    race(one);
    std::ignore = one.failed(of(2), {Stage::connect, Cause::refused}, epoch + 210ms, dice);
    std::ignore = one.responded(of(1), {200, {}}, epoch + 250ms, dice);
    const Actions asked = one.body_broke({Cause::truncated, continuable, true}, epoch + 300ms, dice);
    const Ledger& ledger = one.ledger();
    EXPECT_EQ(ledger[0].verdict.reason, Reason::hedged) << "it was followed by its copy";
    EXPECT_EQ(std::get<Failed>(ledger[0].outcome).stage, Stage::body);
    EXPECT_EQ(ledger[0].ended, epoch + 300ms);
    EXPECT_EQ(ledger[1].verdict.reason, continuable ? Reason::resumed : Reason::response_started);
    EXPECT_EQ(at<Wait>(asked, 0) != nullptr, continuable);
    if (!continuable) continue;
    std::ignore = one.client_finished(epoch + 310ms);
    EXPECT_EQ(ledger[0].verdict.reason, Reason::hedged);
    EXPECT_EQ(ledger[1].verdict.reason, Reason::client_gone);
  }
}

// Attempt 1 broke while its body was held, after its hedge had failed. The ledger keeps the verdict on
// attempt 1.
TEST_F(HedgeTest, reason_of_a_held_body_that_broke_after_a_failed_hedge_is_not_overwritten) {
  Exchange one = exchange();
  race(one);
  std::ignore = one.failed(of(2), {Stage::connect, Cause::refused}, epoch + 210ms, dice);
  const Actions asked = one.failed(of(1), {Stage::body, Cause::truncated}, epoch + 250ms, dice);
  ASSERT_NE(at<Deliver>(asked, 0), nullptr);
  EXPECT_EQ(at<Deliver>(asked, 0)->number, 1U);
  std::ignore = one.body_broke({Cause::truncated, false, true}, epoch + 260ms, dice);
  EXPECT_EQ(one.ledger().reason, Reason::not_retryable);
  EXPECT_EQ(one.ledger()[0].verdict.reason, Reason::hedged);
  EXPECT_EQ(one.ledger()[1].verdict.reason, Reason::not_retryable);
}

TEST_F(HedgeTest, reports_of_a_cancelled_attempt_do_not_affect_the_resume) {
  Exchange one = exchange();
  race(one);
  std::ignore = one.responded(of(2), {200, {}}, epoch + 250ms, dice);
  std::ignore = one.body_broke({Cause::truncated, true, true}, epoch + 300ms, dice);
  ASSERT_NE(at<Resume>(one.waited(epoch + 10s), 0), nullptr);
  EXPECT_EQ(one.responded(of(1), {503, {}}, epoch + 11s, dice).size(), 0U);
  EXPECT_EQ(one.failed(of(1), {Stage::await_head, Cause::cancelled}, epoch + 11s, dice).size(), 0U);
  EXPECT_EQ(one.continued(of(1), {206, {}}, epoch + 11s).size(), 0U);
  EXPECT_EQ(one.differed(of(1), {200, {}}, epoch + 11s).size(), 0U);
  EXPECT_EQ(one.uncounted(of(1), {200, {}}, epoch + 11s, dice).size(), 0U);
  EXPECT_EQ(one.ledger().size(), 2U);
  EXPECT_NE(at<Continue>(one.continued(of(3), {206, {}}, epoch + 12s), 0), nullptr);
}

TEST_F(HedgeTest, p95_includes_first_attempts_measured_from_their_own_start) {
  policy.hedge->after.reset();
  ObservedLatency latency;
  for (int i = 0; i < 20; ++i) {
    Exchange one = exchange({}, &latency);
    std::ignore = one.begin(epoch, dice);
    std::ignore = one.responded(of(1), {200, {}}, epoch + 10ms, dice);
  }
  EXPECT_EQ(latency.p95(), 10ms);
  for (int i = 0; i < 20; ++i) {
    Exchange slow = exchange({}, &latency);
    std::ignore = slow.begin(epoch, dice);
    std::ignore = slow.hedge_due(of(1), epoch + 10ms);
    std::ignore = slow.responded(of(2), {200, {}}, epoch + 50ms, dice);
  }
  EXPECT_EQ(latency.p95(), 50ms) << "the first had run for 50 ms, the copy for 40";
  for (int i = 0; i < 200; ++i) {
    Exchange failing = exchange({}, &latency);
    std::ignore = failing.begin(epoch, dice);
    std::ignore = failing.responded(of(1), {503, {}}, epoch + 1s, dice);
  }
  EXPECT_EQ(latency.p95(), 50ms) << "a bad response says nothing of good ones";
}

// Both attempts went to the same host. The longer of their retry hints applies, counted from the response
// that has this hint.
TEST_F(HedgeTest, retry_hint_of_either_attempt_counts) {
  policy.retry.backoff = {1ms, 2, 1ms, Jitter::none};
  Responded later{503, {}};
  later.hints.retry_after = 5s;
  for (const Outcome& last :
       {Outcome(Responded{503, {}}), Outcome(Failed{Stage::await_head, Cause::reset})}) {
    Exchange one = exchange();
    race(one);
    EXPECT_EQ(one.responded(of(2), later, epoch + 1s, dice).size(), 0U);
    const auto* responded = std::get_if<Responded>(&last);
    const Actions next = responded != nullptr ? one.responded(of(1), *responded, epoch + 3s, dice)
                                              : one.failed(of(1), std::get<Failed>(last), epoch + 3s, dice);
    ASSERT_NE(at<Wait>(next, 0), nullptr);
    EXPECT_EQ(at<Wait>(next, 0)->until, epoch + 6s);
    std::ignore = one.waited(epoch + 6s);
    const Actions after = one.responded(of(3), Responded{503, {}}, epoch + 7s, dice);
    ASSERT_NE(at<Wait>(after, 0), nullptr);
    EXPECT_EQ(at<Wait>(after, 0)->until, epoch + 7s + 1ms) << "what was asked then is over";
  }
}

TEST_F(HedgeTest, x_amz_retry_after_of_either_attempt_counts) {
  policy.retry.backoff = {1s, 2, 1s, Jitter::none};
  Responded stretched{503, {}};
  stretched.hints.aws_retry_after = 4s;
  Exchange one = exchange();
  race(one);
  std::ignore = one.responded(of(1), stretched, epoch + 1s, dice);
  const Actions next = one.responded(of(2), Responded{503, {}}, epoch + 2s, dice);
  ASSERT_NE(at<Wait>(next, 0), nullptr);
  EXPECT_EQ(at<Wait>(next, 0)->until, epoch + 5s);
}

TEST_F(HedgeTest, retry_hint_of_either_response_in_a_race_can_forbid_retries) {
  Responded no{503, {}};
  no.hints.said_no = true;
  Exchange one = exchange();
  race(one);
  std::ignore = one.responded(of(2), no, epoch + 1s, dice);
  const Actions last = one.responded(of(1), Responded{503, {}}, epoch + 2s, dice);
  EXPECT_EQ(one.ledger().reason, Reason::upstream_said_no);
  EXPECT_NE(at<Deliver>(last, 0), nullptr);
}

}  // namespace
}  // namespace reprise::policy::hedge_test
