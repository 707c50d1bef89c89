// Tests the state that requests to one host share: the circuit and the pause alone, and in an exchange.
#include <gtest/gtest.h>
#include <tuple>

#include "tests/support/play.hpp"

namespace reprise::policy::host_share_test {
namespace {

using namespace std::chrono_literals;
using play::epoch;

const AttemptReport safe{false, Sent::maybe, true, Idempotency::yes};
const Facts get{Idempotency::yes, true, false, {}};
constexpr CircuitPolicy quick{0.5, 10s, 4, 5s};

template <typename Kind>
const Kind& only(const Actions& actions) {
  EXPECT_EQ(actions.size(), 1U);
  return std::get<Kind>(actions[0]);
}

Hints asking(Duration pause) {
  Hints hints;
  hints.retry_after = pause;
  return hints;
}

TEST(Circuit, circuit_stays_closed_below_the_minimum_number_of_requests) {
  Circuit circuit(quick);
  for (int i = 0; i < 3; ++i) circuit.failed(epoch, epoch);
  EXPECT_TRUE(circuit.admit(epoch));
  EXPECT_EQ(circuit.state(epoch), Circuit::State::closed);
}

TEST(Circuit, circuit_opens_at_the_failure_ratio_and_rejects_requests) {
  Circuit circuit(quick);
  circuit.succeeded(epoch, epoch);
  circuit.succeeded(epoch, epoch);
  circuit.failed(epoch, epoch);
  EXPECT_EQ(circuit.state(epoch), Circuit::State::closed);
  circuit.failed(epoch, epoch);
  EXPECT_EQ(circuit.state(epoch), Circuit::State::open);
  EXPECT_FALSE(circuit.admit(epoch + 4999ms));
}

TEST(Circuit, failures_outside_the_window_do_not_count) {
  Circuit circuit(quick);
  for (int i = 0; i < 3; ++i) circuit.failed(epoch, epoch);
  circuit.failed(epoch + 12s, epoch + 12s);
  EXPECT_EQ(circuit.state(epoch + 12s), Circuit::State::closed);
}

struct OpenCircuit : testing::Test {
  OpenCircuit() {
    for (int i = 0; i < 4; ++i) circuit.failed(epoch, epoch);
  }
  Circuit circuit{quick};
};

TEST(Circuit, attempt_reported_with_an_older_time_counts_in_the_newest_slot_of_the_circuit) {
  Circuit circuit(quick);
  circuit.failed(epoch, epoch);
  circuit.failed(epoch, epoch);
  circuit.succeeded(epoch - 1s, epoch - 1s);
  circuit.failed(epoch, epoch);
  EXPECT_EQ(circuit.state(epoch), Circuit::State::open) << "3 of 4";
}

TEST_F(OpenCircuit, failures_of_earlier_attempts_do_not_extend_the_open_time) {
  circuit.failed(epoch + 1s, epoch + 1s);
  EXPECT_TRUE(circuit.admit(epoch + 5s));
}

TEST_F(OpenCircuit, success_of_an_older_attempt_does_not_close_the_circuit_after_a_failed_probe) {
  ASSERT_TRUE(circuit.admit(epoch + 5s));
  circuit.failed(epoch + 6s, epoch + 5s);
  circuit.succeeded(epoch + 7s, epoch + 7s);
  EXPECT_EQ(circuit.state(epoch + 7s), Circuit::State::open) << "an attempt from before, and no probe";
}

TEST_F(OpenCircuit, open_circuit_admits_one_probe_after_the_open_time) {
  EXPECT_EQ(circuit.state(epoch + 5s), Circuit::State::half_open);
  EXPECT_TRUE(circuit.admit(epoch + 5s));
  EXPECT_FALSE(circuit.admit(epoch + 5s));
}

TEST_F(OpenCircuit, circuit_closes_when_the_probe_succeeds) {
  ASSERT_TRUE(circuit.admit(epoch + 5s));
  circuit.succeeded(epoch + 6s, epoch + 5s);
  EXPECT_EQ(circuit.state(epoch + 6s), Circuit::State::closed);
  circuit.failed(epoch + 6s, epoch + 5s);
  EXPECT_EQ(circuit.state(epoch + 6s), Circuit::State::closed) << "the old failures are forgotten";
}

TEST_F(OpenCircuit, circuit_opens_again_when_the_probe_fails) {
  ASSERT_TRUE(circuit.admit(epoch + 5s));
  circuit.failed(epoch + 6s, epoch + 5s);
  EXPECT_FALSE(circuit.admit(epoch + 10999ms));
  EXPECT_TRUE(circuit.admit(epoch + 11s));
}

// Threads read the clock separately. So the end of a probe may have an earlier time than its admission, which
// another thread reported.
TEST_F(OpenCircuit, failed_probe_frees_its_slot_even_if_its_end_time_precedes_its_start) {
  ASSERT_TRUE(circuit.admit(epoch + 6s));
  circuit.failed(epoch + 5500ms, epoch + 6s);
  EXPECT_TRUE(circuit.admit(epoch + 10500ms));
}

TEST_F(OpenCircuit, only_the_result_of_the_probe_closes_the_circuit) {
  circuit.succeeded(epoch + 1s, epoch + 1s);
  EXPECT_EQ(circuit.state(epoch + 1s), Circuit::State::open) << "an attempt from before it opened";
}

TEST_F(OpenCircuit, another_probe_is_admitted_if_a_probe_has_no_result_after_the_open_time) {
  ASSERT_TRUE(circuit.admit(epoch + 5s));
  EXPECT_FALSE(circuit.admit(epoch + 9s));
  EXPECT_TRUE(circuit.admit(epoch + 10s));
}

TEST_F(OpenCircuit, another_probe_is_admitted_after_a_probe_was_discarded) {
  ASSERT_TRUE(circuit.admit(epoch + 5s));
  circuit.discard(epoch + 5s);
  EXPECT_TRUE(circuit.admit(epoch + 5s));
}

// An attempt admitted before the circuit opened is never a probe, however late it ends.
TEST_F(OpenCircuit, results_of_attempts_older_than_the_probe_do_not_affect_it) {
  ASSERT_TRUE(circuit.admit(epoch + 5s));
  circuit.discard(epoch);
  EXPECT_FALSE(circuit.admit(epoch + 6s));
  circuit.failed(epoch + 6s, epoch);
  circuit.succeeded(epoch + 6s, epoch);
  EXPECT_EQ(circuit.state(epoch + 6s), Circuit::State::half_open);
  EXPECT_FALSE(circuit.admit(epoch + 6s));
}

TEST(HostPause, host_pause_ends_exactly_at_the_latest_end_that_was_requested) {
  HostPause pause;
  EXPECT_EQ(pause.until(epoch), std::nullopt);
  pause.ask(epoch + 3s);
  pause.ask(epoch + 2s);
  EXPECT_EQ(pause.until(epoch + 2s), epoch + 3s);
  EXPECT_EQ(pause.until(epoch + 3s), std::nullopt);
}

struct SharedHost : testing::Test {
  RoutePolicy policy;
  Circuit circuit{quick};
  HostPause pause;
  play::LoadedDice dice = play::LoadedDice::highest();
  Exchange exchange() { return Exchange(policy, get, {nullptr, &circuit, &pause}, epoch); }
};

TEST_F(SharedHost, open_circuit_rejects_a_request) {
  for (int i = 0; i < 4; ++i) circuit.failed(epoch, epoch);
  Exchange turned = exchange();
  only<Fail>(turned.begin(epoch, dice));
  EXPECT_EQ(turned.ledger().reason, Reason::circuit_open);
  EXPECT_TRUE(turned.ledger().empty()) << "nothing was sent";
  EXPECT_TRUE(turned.over());
}

TEST_F(SharedHost, last_response_is_delivered_if_the_circuit_opens_during_a_wait) {
  Exchange waiting = exchange();
  std::ignore = waiting.begin(epoch, dice);
  only<Wait>(waiting.responded(safe, {503, {}}, epoch, dice));
  waiting.response_kept();
  for (int i = 0; i < 3; ++i) circuit.failed(epoch, epoch);
  EXPECT_EQ(only<Deliver>(waiting.waited(epoch + 1s)).number, 1U);
  EXPECT_EQ(waiting.ledger().reason, Reason::circuit_open);
  EXPECT_FALSE(waiting.ledger()[0].verdict.retry) << "the retry never started";
}

TEST_F(SharedHost, response_still_being_read_is_delivered_if_the_circuit_opens) {
  Exchange waiting = exchange();
  std::ignore = waiting.begin(epoch, dice);
  only<Wait>(waiting.responded(safe, {503, {}}, epoch, dice));
  for (int i = 0; i < 3; ++i) circuit.failed(epoch, epoch);
  EXPECT_EQ(only<Deliver>(waiting.waited(epoch + 1s)).number, 1U);
}

TEST_F(SharedHost, first_attempt_starts_after_a_host_pause_even_if_its_signature_expired_meanwhile) {
  policy.while_paused = WhilePaused::wait;
  pause.ask(epoch + 1s);
  Facts signed_request = get;
  signed_request.signed_until = epoch;
  Exchange late(policy, signed_request, {nullptr, nullptr, &pause}, epoch);
  only<Wait>(late.begin(epoch, dice));
  EXPECT_EQ(only<Start>(late.waited(epoch + 2s)).number, 1U);
}

TEST_F(SharedHost, pause_that_outlasts_the_signature_ends_the_retries) {
  policy.while_paused = WhilePaused::wait;
  Facts signed_request = get;
  signed_request.signed_until = epoch + 5s;
  Exchange paused(policy, signed_request, {nullptr, nullptr, &pause}, epoch);
  std::ignore = paused.begin(epoch, dice);
  only<Wait>(paused.responded(safe, {503, {}}, epoch, dice));
  pause.ask(epoch + 6s);
  only<Wait>(paused.waited(epoch + 1s));
  EXPECT_EQ(only<Deliver>(paused.waited(epoch + 6250ms)).number, 1U);
  EXPECT_EQ(paused.ledger().reason, Reason::signature_expired);
}

TEST_F(SharedHost, only_responses_from_500_up_count_as_circuit_failures) {
  policy.retry.max_attempts = 1;
  for (const int status : {404, 429, 200, 500, 503}) {
    Exchange one = exchange();
    std::ignore = one.begin(epoch, dice);
    std::ignore = one.responded(safe, {status, {}}, epoch, dice);
  }
  EXPECT_EQ(circuit.state(epoch), Circuit::State::closed) << "2 of 5";
  Exchange last = exchange();
  std::ignore = last.begin(epoch, dice);
  std::ignore = last.failed(safe, {Stage::connect, Cause::refused}, epoch, dice);
  EXPECT_EQ(circuit.state(epoch), Circuit::State::open) << "3 of 6";
}

TEST_F(SharedHost, probe_reset_by_its_client_frees_the_probe_slot) {
  for (int i = 0; i < 4; ++i) circuit.failed(epoch, epoch);
  Exchange probe = exchange();
  only<Start>(probe.begin(epoch + 5s, dice));
  std::ignore = probe.client_reset(epoch + 5s);
  EXPECT_TRUE(circuit.admit(epoch + 5s));
}

// The first attempt was the circuit's probe, but lasted longer than a probe may. The hedge of this attempt is
// now the probe.
TEST_F(SharedHost, hedge_that_is_the_probe_frees_the_slot_on_a_client_reset) {
  Circuit opened(CircuitPolicy{0.5, 10s, 1, 5s});
  opened.failed(epoch, epoch);
  policy.hedge.emplace().after = 6s;
  Exchange exchange(policy, get, {nullptr, &opened, nullptr}, epoch);
  std::ignore = exchange.begin(epoch + 5s, dice);
  ASSERT_EQ(only<Start>(exchange.hedge_due(safe, epoch + 11s)).number, 2U);
  EXPECT_FALSE(opened.admit(epoch + 11s));
  EXPECT_EQ(exchange.client_reset(epoch + 11s).size(), 3U);
  EXPECT_TRUE(opened.admit(epoch + 11s));
}

TEST_F(SharedHost, retry_hint_pauses_the_host_for_other_requests) {
  policy.while_paused = WhilePaused::fail;
  Exchange first = exchange();
  std::ignore = first.begin(epoch, dice);
  std::ignore = first.responded(safe, {429, asking(10s)}, epoch, dice);
  EXPECT_EQ(pause.until(epoch), epoch + 10s);
  Exchange second = exchange();
  only<Fail>(second.begin(epoch + 1s, dice));
  EXPECT_EQ(second.ledger().reason, Reason::host_paused);
}

TEST_F(SharedHost, hint_pauses_the_host_only_if_it_is_honoured_and_its_status_is_in_retry_on) {
  Exchange unlisted = exchange();
  std::ignore = unlisted.begin(epoch, dice);
  std::ignore = unlisted.responded(safe, {404, asking(10s)}, epoch, dice);
  EXPECT_EQ(pause.until(epoch), std::nullopt);
  policy.retry.retry_after.honour = false;
  Exchange deaf = exchange();
  std::ignore = deaf.begin(epoch, dice);
  std::ignore = deaf.responded(safe, {503, asking(10s)}, epoch, dice);
  EXPECT_EQ(pause.until(epoch), std::nullopt);
}

TEST_F(SharedHost, request_does_not_wait_for_a_host_pause_by_default) {
  pause.ask(epoch + 10s);
  Exchange going = exchange();
  EXPECT_EQ(only<Start>(going.begin(epoch, dice)).number, 1U);
}

TEST_F(SharedHost, stale_connection_does_not_count_in_the_circuit) {
  for (int i = 0; i < 3; ++i) circuit.failed(epoch, epoch);
  Exchange stale = exchange();
  std::ignore = stale.begin(epoch, dice);
  std::ignore =
      stale.failed({true, Sent::nothing, true, Idempotency::yes}, {Stage::send, Cause::closed}, epoch, dice);
  EXPECT_EQ(circuit.state(epoch), Circuit::State::closed);
}

TEST_F(SharedHost, probe_on_a_stale_connection_keeps_the_probe_slot_for_its_retry) {
  for (int i = 0; i < 4; ++i) circuit.failed(epoch, epoch);
  Exchange probe = exchange();
  std::ignore = probe.begin(epoch + 5s, dice);
  only<Start>(probe.failed({true, Sent::nothing, true, Idempotency::yes}, {Stage::send, Cause::closed},
                           epoch + 6s, dice));
  EXPECT_FALSE(circuit.admit(epoch + 7s)) << "one probe at a time";
  std::ignore = probe.responded(safe, {200, {}}, epoch + 8s, dice);
  EXPECT_EQ(circuit.state(epoch + 8s), Circuit::State::closed);
}

TEST_F(SharedHost, D17_unreadable_replay_body_does_not_count_in_the_circuit) {
  for (int i = 0; i < 3; ++i) circuit.failed(epoch, epoch);
  Exchange lost = exchange();
  std::ignore = lost.begin(epoch, dice);
  std::ignore = lost.failed({false, Sent::maybe, false, Idempotency::yes}, {Stage::send, Cause::replay_lost},
                            epoch, dice);
  EXPECT_EQ(circuit.state(epoch), Circuit::State::closed);
}

TEST_F(SharedHost, excessive_hint_pauses_the_host_no_longer_than_the_route_allows) {
  Exchange first = exchange();
  std::ignore = first.begin(epoch, dice);
  std::ignore = first.responded(safe, {429, asking(48h)}, epoch, dice);
  EXPECT_EQ(pause.until(epoch), epoch + 60s);
}

TEST_F(SharedHost, request_that_waits_for_a_host_pause_starts_up_to_the_initial_backoff_after_its_end) {
  policy.while_paused = WhilePaused::wait;
  pause.ask(epoch + 10s);
  Exchange late = exchange();
  EXPECT_EQ(only<Wait>(late.begin(epoch, dice)).until, epoch + 10s + 250ms);
  EXPECT_EQ(only<Start>(late.waited(epoch + 10250ms)).number, 1U);
}

TEST_F(SharedHost, pause_beyond_the_deadline_fails_the_request_at_once) {
  policy.while_paused = WhilePaused::wait;
  pause.ask(epoch + 60s);
  Exchange late = exchange();
  only<Fail>(late.begin(epoch, dice));
  EXPECT_EQ(late.ledger().reason, Reason::host_paused);
}

TEST_F(SharedHost, half_closed_client_still_gets_its_first_attempt_after_a_pause) {
  policy.while_paused = WhilePaused::wait;
  pause.ask(epoch + 1s);
  Exchange waiting = exchange();
  std::ignore = waiting.begin(epoch, dice);
  EXPECT_EQ(waiting.client_finished(epoch).size(), 0U);
  EXPECT_EQ(only<Start>(waiting.waited(epoch + 2s)).number, 1U);
}

TEST_F(SharedHost, shutdown_or_client_reset_ends_the_wait_for_a_pause) {
  policy.while_paused = WhilePaused::wait;
  pause.ask(epoch + 1s);
  Exchange stopped = exchange();
  std::ignore = stopped.begin(epoch, dice);
  only<Fail>(stopped.shutdown(epoch));
  EXPECT_EQ(stopped.ledger().reason, Reason::shutting_down);
  Exchange left = exchange();
  std::ignore = left.begin(epoch, dice);
  only<Leave>(left.client_reset(epoch));
  EXPECT_EQ(left.ledger().reason, Reason::client_gone);
}

TEST_F(SharedHost, retry_waits_for_a_pause_that_was_extended_during_its_backoff) {
  policy.while_paused = WhilePaused::wait;
  Exchange retrying = exchange();
  std::ignore = retrying.begin(epoch, dice);
  std::ignore = retrying.responded(safe, {503, {}}, epoch, dice);
  pause.ask(epoch + 7s);
  EXPECT_EQ(only<Wait>(retrying.waited(epoch + 1s)).until, epoch + 7s + 250ms);
  EXPECT_EQ(only<Start>(retrying.waited(epoch + 7250ms)).number, 2U);
}

}  // namespace
}  // namespace reprise::policy::host_share_test
