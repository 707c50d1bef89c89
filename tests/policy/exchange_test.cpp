// Tests parts of Exchange and Ledger that no story covers: single transitions, shared budgets, ledger
// entries.
#include "proxy/policy/decision/exchange.hpp"

#include <gtest/gtest.h>
#include <tuple>

#include "tests/support/play.hpp"

namespace reprise::policy::exchange_test {
namespace {

using namespace std::chrono_literals;
using play::epoch;

const AttemptReport safe{false, Sent::maybe, true, Idempotency::yes};
const Facts get{Idempotency::yes, true, false};

struct ExchangeTest : testing::Test {
  RoutePolicy policy;
  Budget budget{{0, 0.1, 10s}};
  play::LoadedDice dice = play::LoadedDice::highest();

  std::optional<Instant> hedge_of(const Facts& facts) {
    Exchange exchange(policy, facts, nullptr, epoch);
    std::ignore = exchange.begin(epoch, dice);
    return exchange.hedge_at();
  }
};

TEST_F(ExchangeTest, deadline_counts_from_the_request_head) {
  EXPECT_EQ(Exchange(policy, get, nullptr, epoch).deadline(), epoch + 60s);
  policy.retry.deadline.reset();
  EXPECT_EQ(Exchange(policy, get, nullptr, epoch).deadline(), std::nullopt);
}

TEST_F(ExchangeTest, exchange_is_not_over_before_its_response_is_delivered) {
  Exchange exchange(policy, get, nullptr, epoch);
  std::ignore = exchange.begin(epoch, dice);
  EXPECT_TRUE(play::waits(exchange.responded(safe, {503, {}}, epoch, dice)));
  std::ignore = exchange.waited(epoch + 250ms);
  EXPECT_FALSE(play::waits(exchange.responded(safe, {200, {}}, epoch + 1s, dice)));
  EXPECT_FALSE(exchange.over());
  exchange.delivered();
  EXPECT_TRUE(exchange.over());
}

// When the driver reports an event, no other work is pending. So the client would wait forever if the event
// led to no action.
TEST_F(ExchangeTest, every_event_of_a_running_attempt_leads_to_an_action_until_the_exchange_ends) {
  Exchange exchange(policy, get, nullptr, epoch);
  EXPECT_TRUE(leads_on(exchange, exchange.begin(epoch, dice)));
  AttemptReport of_another = safe;
  of_another.number = 7;
  EXPECT_FALSE(leads_on(exchange, exchange.responded(of_another, {200, {}}, epoch, dice)))
      << "the attempt that runs has not ended";
  EXPECT_TRUE(leads_on(exchange, exchange.responded(safe, {200, {}}, epoch, dice)));
  exchange.delivered();
  EXPECT_TRUE(leads_on(exchange, {}));
}

// Covers tunnels, upgrades, and requests whose credentials belong to the connection. A second copy of such a
// request would not be equivalent.
TEST_F(ExchangeTest, request_that_must_not_be_duplicated_is_never_hedged) {
  policy.hedge = HedgePolicy{200ms};
  EXPECT_EQ(hedge_of(get), epoch + 200ms);
  Facts alone = get;
  alone.copyable = false;
  EXPECT_EQ(hedge_of(alone), std::nullopt);
}

// The budget has one retry and gains one with each first attempt.
struct TakenUp : ExchangeTest {
  Budget shared{{1, 0.1, 10s}};
  Exchange exchange{policy, get, &shared, epoch};

  void take_up(unsigned number, Sent sent, const Outcome& outcome) {
    Attempt attempt;
    attempt.number = number;
    attempt.sent = sent;
    exchange.take_up({attempt, outcome, {true, 250ms, Reason::retryable_failure}, epoch, epoch});
  }
};

TEST_F(TakenUp, imported_attempts_count_in_the_budget_like_attempts_of_the_exchange) {
  const Failed closed{Stage::await_head, Cause::closed};
  take_up(1, Sent::maybe, closed);
  EXPECT_EQ(shared.left(epoch), 1);
  take_up(2, Sent::maybe, closed);
  EXPECT_EQ(shared.left(epoch), 0);
  EXPECT_EQ(std::get<Start>(exchange.begin(epoch, dice)[0]).number, 3U);
  EXPECT_EQ(exchange.ledger().size(), 2U);
}

TEST_F(TakenUp, imported_attempts_that_sent_no_byte_are_refunded) {
  const Failed refused{Stage::connect, Cause::refused};
  take_up(1, Sent::nothing, refused);
  EXPECT_EQ(shared.left(epoch), 1);
  take_up(2, Sent::nothing, refused);
  EXPECT_EQ(shared.left(epoch), 1) << "given back, and withdrawn for the third";
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.failed({false, Sent::nothing, true, Idempotency::yes}, refused, epoch, dice);
  EXPECT_EQ(exchange.ledger().back().budget_left, 2);
}

TEST_F(TakenUp, retry_of_an_attempt_that_failed_locally_adds_nothing_to_the_budget) {
  const AttemptReport unsent{false, Sent::nothing, true, Idempotency::yes};
  std::ignore = exchange.begin(epoch, dice);
  EXPECT_TRUE(play::waits(exchange.failed(unsent, {Stage::connect, Cause::no_descriptor}, epoch, dice)));
  EXPECT_EQ(shared.left(epoch), 0);
  std::ignore = exchange.waited(epoch + 250ms);
  std::ignore = exchange.responded(safe, {200, {}}, epoch + 250ms, dice);
  EXPECT_EQ(shared.left(epoch + 250ms), 0);
}

TEST_F(TakenUp, attempts_must_be_imported_in_order_before_the_exchange_begins) {
  EXPECT_DEBUG_DEATH(take_up(2, Sent::maybe, Responded{503, {}}), "number");
  std::ignore = exchange.begin(epoch, dice);
  EXPECT_DEBUG_DEATH(take_up(1, Sent::maybe, Responded{503, {}}), "idle");
}

TEST_F(ExchangeTest, violated_preconditions_fail_assertions_in_debug_builds) {
  Exchange exchange(policy, get, nullptr, epoch);
  const Actions asked = exchange.begin(epoch, dice);
  EXPECT_DEBUG_DEATH(static_cast<void>(asked[1]), "");
  EXPECT_DEBUG_DEATH(exchange.delivered(), "delivering");
}

TEST_F(ExchangeTest, exchange_is_not_retried_if_another_exchange_took_the_last_retry_of_the_budget) {
  Exchange first(policy, get, &budget, epoch);
  Exchange second(policy, get, &budget, epoch);
  std::ignore = first.begin(epoch, dice);
  std::ignore = second.begin(epoch, dice);
  EXPECT_TRUE(play::waits(first.responded(safe, {503, {}}, epoch, dice)));
  EXPECT_FALSE(play::waits(second.responded(safe, {503, {}}, epoch, dice)));
  EXPECT_EQ(second.ledger().reason, Reason::budget_spent);
}

/// Dice that simulate a race: while the exchange decides, another request takes a retry from their shared
/// budget.
struct OvertakenDice final : Dice {
  explicit OvertakenDice(Budget& from) : budget(from) {}
  std::uint64_t roll(std::uint64_t highest) override {
    EXPECT_TRUE(budget.withdraw(epoch)) << "it was there when the decision began";
    return highest;
  }
  Budget& budget;
};

TEST_F(ExchangeTest, retry_is_not_started_if_the_budget_was_spent_during_the_decision) {
  Exchange exchange(policy, get, &budget, epoch);
  std::ignore = exchange.begin(epoch, dice);
  OvertakenDice overtaken(budget);
  const Actions actions = exchange.responded(safe, {503, {}}, epoch, overtaken);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Deliver>(actions[0]));
  EXPECT_EQ(exchange.ledger().reason, Reason::budget_spent);
}

TEST_F(ExchangeTest, second_call_of_begin_has_no_effect) {
  Budget earned({1, 0, 10s});
  Exchange exchange(policy, get, &earned, epoch);
  EXPECT_EQ(exchange.begin(epoch, dice).size(), 1U);
  EXPECT_EQ(exchange.begin(epoch, dice).size(), 0U);
  std::ignore = exchange.responded(safe, {200, {}}, epoch, dice);
  EXPECT_EQ(earned.left(epoch), 1) << "one first attempt";
}

TEST_F(ExchangeTest, retry_is_refunded_to_the_budget_if_the_wait_before_it_is_abandoned) {
  const auto waits_then = [&](auto leave) {
    Exchange exchange(policy, get, &budget, epoch);
    std::ignore = exchange.begin(epoch, dice);
    std::ignore = exchange.responded(safe, {503, {}}, epoch, dice);
    EXPECT_EQ(budget.left(epoch), 0);
    leave(exchange);
    EXPECT_EQ(budget.left(epoch), 1);
  };
  waits_then([](Exchange& e) { std::ignore = e.client_finished(epoch); });
  waits_then([](Exchange& e) { std::ignore = e.client_reset(epoch); });
  waits_then([](Exchange& e) { std::ignore = e.shutdown(epoch); });
  waits_then([](Exchange& e) { std::ignore = e.waited(epoch + 2min); });
}

TEST_F(ExchangeTest, started_retry_is_not_refunded_when_the_client_leaves) {
  Exchange exchange(policy, get, &budget, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(safe, {503, {}}, epoch, dice);
  std::ignore = exchange.waited(epoch + 250ms);
  std::ignore = exchange.client_reset(epoch + 1s);
  EXPECT_EQ(budget.left(epoch + 1s), 0);
}

TEST_F(ExchangeTest, request_rejected_during_an_attempt_is_not_retryable) {
  Exchange exchange(policy, get, nullptr, epoch);
  std::ignore = exchange.begin(epoch, dice);
  const Actions actions = exchange.rejected(epoch + 1s, {{}, Stage::send});
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_TRUE(exchange.over());
  EXPECT_EQ(exchange.ledger().reason, Reason::not_retryable);
  EXPECT_EQ(exchange.ledger().back().verdict.reason, Reason::not_retryable);
  EXPECT_EQ(std::get<Failed>(exchange.ledger().back().outcome).stage, Stage::send);
}

TEST_F(ExchangeTest, stopped_attempt_is_entered_with_its_stage_and_address) {
  Exchange exchange(policy, get, nullptr, epoch);
  std::ignore = exchange.begin(epoch, dice);
  StoppedAttempt stopped{{}, Stage::connect};
  stopped.report.address.port = 8080;
  std::ignore = exchange.client_reset(epoch + 1s, stopped);
  const LedgerEntry& entry = exchange.ledger().back();
  EXPECT_EQ(std::get<Failed>(entry.outcome).stage, Stage::connect);
  EXPECT_EQ(std::get<Failed>(entry.outcome).cause, Cause::cancelled);
  EXPECT_EQ(entry.address.port, 8080);
  EXPECT_EQ(entry.attempt.sent, Sent::nothing);
}

TEST_F(ExchangeTest, first_attempt_counts_in_the_budget_once_it_was_sent) {
  Budget earned({1, 0, 10s});
  Exchange exchange(policy, get, &earned, epoch);
  EXPECT_EQ(earned.left(epoch), 0);
  std::ignore = exchange.begin(epoch, dice);
  EXPECT_EQ(earned.left(epoch), 0) << "it may never leave this host";
  std::ignore = exchange.responded(safe, {200, {}}, epoch, dice);
  EXPECT_EQ(earned.left(epoch), 1);
}

// Attempt 2 brought no response. Reports about a response must not be applied to the response of attempt 1.
TEST_F(ExchangeTest, reports_about_a_newer_attempt_do_not_change_the_response_of_an_older_one) {
  policy.retry.max_attempts = 2;
  for (const bool whole : {true, false}) {
    Exchange exchange(policy, get, nullptr, epoch);
    std::ignore = exchange.begin(epoch, dice);
    std::ignore = exchange.responded(safe, {503, {}}, epoch, dice);
    if (whole) exchange.response_kept();
    std::ignore = exchange.waited(epoch + 1s);
    exchange.response_kept();
    exchange.response_dropped();
    const Actions actions = exchange.failed(safe, {Stage::connect, Cause::refused}, epoch + 1s, dice);
    EXPECT_EQ(std::holds_alternative<Deliver>(actions[0]), whole);
  }
  policy.retry.max_attempts = 3;
  Exchange exchange(policy, get, nullptr, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(safe, {503, {}}, epoch, dice);
  exchange.response_kept();
  std::ignore = exchange.waited(epoch + 1s);
  std::ignore = exchange.failed(safe, {Stage::connect, Cause::refused}, epoch + 1s, dice);
  exchange.response_dropped();
  EXPECT_TRUE(std::holds_alternative<Deliver>(exchange.client_finished(epoch + 1s)[0]));
}

TEST_F(ExchangeTest, observe_mode_withdraws_retries_from_the_budget_it_is_given) {
  policy.mode = Mode::observe;
  Exchange exchange(policy, get, &budget, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(safe, {503, {}}, epoch, dice);
  EXPECT_EQ(exchange.ledger().reason, Reason::observe_only);
  EXPECT_EQ(budget.left(epoch), 0);
}

TEST_F(ExchangeTest, client_reset_before_the_first_attempt_ends_the_exchange) {
  Exchange exchange(policy, get, nullptr, epoch);
  const Actions actions = exchange.client_reset(epoch);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Leave>(actions[0]));
  EXPECT_TRUE(exchange.over());
  EXPECT_TRUE(exchange.ledger().empty());
}

TEST_F(ExchangeTest, reason_is_client_gone_if_the_client_leaves_after_a_shutdown_began) {
  Exchange one(policy, get, nullptr, epoch);
  std::ignore = one.begin(epoch, dice);
  std::ignore = one.shutdown(epoch);
  std::ignore = one.client_finished(epoch);
  std::ignore = one.responded(safe, {503, {}}, epoch + 1ms, dice);
  EXPECT_EQ(one.ledger().reason, Reason::client_gone);
}

TEST_F(ExchangeTest, cancelled_attempt_is_recorded_in_the_ledger) {
  Exchange exchange(policy, get, nullptr, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.client_reset(epoch + 3s);
  ASSERT_EQ(exchange.ledger().size(), 1U);
  const LedgerEntry& entry = exchange.ledger()[0];
  EXPECT_EQ(outcome_label(entry.outcome), "cancelled");
  EXPECT_EQ(entry.attempt.sent, Sent::maybe) << "nobody knows how far it had come";
  EXPECT_EQ(entry.ended - entry.started, 3s);
  EXPECT_EQ(entry.verdict.reason, Reason::client_gone);
}

TEST_F(ExchangeTest, broken_body_is_recorded_in_the_ledger) {
  Exchange exchange(policy, get, nullptr, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(safe, {200, {}}, epoch + 1s, dice);
  std::ignore = exchange.body_broke({Cause::reset}, epoch + 9s, dice);
  const LedgerEntry& entry = exchange.ledger()[0];
  EXPECT_EQ(outcome_label(entry.outcome), "truncated");
  EXPECT_EQ(std::get<Failed>(entry.outcome).cause, Cause::reset);
  EXPECT_EQ(entry.ended, epoch + 9s);
  EXPECT_EQ(entry.verdict.reason, Reason::response_started);
  EXPECT_EQ(exchange.ledger().reason, Reason::response_started);
}

TEST_F(ExchangeTest, E11_expired_signature_of_the_download_prevents_a_resume) {
  Exchange exchange(policy, {Idempotency::yes, true, false}, {}, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(safe, {200, {}}, epoch, dice);
  std::ignore = exchange.body_broke({Cause::reset, true, true, false, epoch + 1s}, epoch + 2s, dice);
  EXPECT_EQ(exchange.ledger().reason, Reason::signature_expired);
}

TEST_F(ExchangeTest, break_of_a_kept_response_is_recorded_in_its_own_attempt) {
  policy.retry.max_attempts = 2;
  Exchange exchange(policy, get, nullptr, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(safe, {503, {}}, epoch, dice);
  exchange.response_kept();
  std::ignore = exchange.waited(epoch + 1s);
  std::ignore = exchange.failed(safe, {Stage::connect, Cause::refused}, epoch + 1s, dice);
  std::ignore = exchange.body_broke({Cause::reset}, epoch + 2s, dice);
  EXPECT_EQ(outcome_label(exchange.ledger()[0].outcome), "truncated");
  EXPECT_EQ(outcome_label(exchange.ledger()[1].outcome), "connect");
}

TEST_F(ExchangeTest, attempt_reports_are_recorded_in_the_ledger) {
  Exchange exchange(policy, get, nullptr, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore =
      exchange.failed({true, Sent::nothing, true, Idempotency::no}, {Stage::send, Cause::reset}, epoch, dice);
  std::ignore = exchange.responded({false, Sent::maybe, false, Idempotency::no}, {503, {}}, epoch, dice);
  ASSERT_EQ(exchange.ledger().size(), 2U);
  const Attempt& first = exchange.ledger()[0].attempt;
  EXPECT_TRUE(first.reused && first.replayable && !first.stale_retry_used);
  EXPECT_EQ(first.sent, Sent::nothing);
  const Attempt& second = exchange.ledger()[1].attempt;
  EXPECT_TRUE(!second.reused && !second.replayable && second.stale_retry_used);
  EXPECT_EQ(second.number, 2U);
  EXPECT_EQ(second.charged, 1U);
}

TEST_F(ExchangeTest, idempotency_of_the_latest_attempt_report_decides) {
  Exchange exchange(policy, {Idempotency::undecided, false, false}, nullptr, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded({false, Sent::maybe, true, Idempotency::yes}, {503, {}}, epoch, dice);
  std::ignore = exchange.waited(epoch + 250ms);
  std::ignore = exchange.responded({false, Sent::maybe, true, Idempotency::no}, {503, {}}, epoch + 1s, dice);
  EXPECT_EQ(exchange.ledger().reason, Reason::not_idempotent);
}

TEST_F(ExchangeTest, ledger_counts_a_request_as_retried_only_if_a_retry_was_decided) {
  for (const int status : {200, 503}) {
    Exchange exchange(policy, get, nullptr, epoch);
    std::ignore = exchange.begin(epoch, dice);
    std::ignore = exchange.responded(safe, {status, {}}, epoch, dice);
    EXPECT_EQ(exchange.ledger().retried(), status == 503);
  }
}

TEST(LedgerTest, ledger_holds_more_than_its_inline_entries) {
  Ledger ledger;
  EXPECT_TRUE(ledger.empty());
  for (unsigned i = 1; i <= 9; ++i) {
    LedgerEntry entry;
    entry.attempt.number = i;
    ledger.add(entry);
    EXPECT_EQ(ledger.back().attempt.number, i);
  }
  ASSERT_EQ(ledger.size(), 9U);
  for (unsigned i = 0; i < 9; ++i) EXPECT_EQ(ledger[i].attempt.number, i + 1);
}

}  // namespace
}  // namespace reprise::policy::exchange_test
