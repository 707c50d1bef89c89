// Exchange and Ledger where a story does not reach: single transitions, shared budgets, what is written down.
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

TEST_F(ExchangeTest, KnowsItsDeadlineFromTheRequestHead) {
  EXPECT_EQ(Exchange(policy, get, nullptr, epoch).deadline(), epoch + 60s);
  policy.retry.deadline.reset();
  EXPECT_EQ(Exchange(policy, get, nullptr, epoch).deadline(), std::nullopt);
}

TEST_F(ExchangeTest, SaysWhetherItIsOver) {
  Exchange exchange(policy, get, nullptr, epoch);
  std::ignore = exchange.begin(epoch, dice);
  EXPECT_TRUE(play::waits(exchange.responded(safe, {503, {}}, epoch, dice)));
  std::ignore = exchange.waited(epoch + 250ms);
  EXPECT_FALSE(play::waits(exchange.responded(safe, {200, {}}, epoch + 1s, dice)));
  EXPECT_FALSE(exchange.over());
  exchange.delivered();
  EXPECT_TRUE(exchange.over());
}

// The driver has nothing under way when it asks: an empty list would leave the client waiting for ever.
TEST_F(ExchangeTest, LeadsOnUntilItIsOver) {
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

// A tunnel, another protocol, credentials of the connection: two of them would not be the same.
TEST_F(ExchangeTest, WhatMayHaveNoCopyNeverGetsOne) {
  policy.hedge = HedgePolicy{200ms};
  EXPECT_EQ(hedge_of(get), epoch + 200ms);
  Facts alone = get;
  alone.copyable = false;
  EXPECT_EQ(hedge_of(alone), std::nullopt);
}

// The budget has one retry, and gets one more with each first attempt.
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

TEST_F(TakenUp, FeedsAndChargesTheBudgetAsIfTheAttemptsHadBeenMadeHere) {
  const Failed closed{Stage::await_head, Cause::closed};
  take_up(1, Sent::maybe, closed);
  EXPECT_EQ(shared.left(epoch), 1);
  take_up(2, Sent::maybe, closed);
  EXPECT_EQ(shared.left(epoch), 0);
  EXPECT_EQ(std::get<Start>(exchange.begin(epoch, dice)[0]).number, 3U);
  EXPECT_EQ(exchange.ledger().size(), 2U);
}

TEST_F(TakenUp, GivesBackWhatEndedWithoutHavingSentAByte) {
  const Failed refused{Stage::connect, Cause::refused};
  take_up(1, Sent::nothing, refused);
  EXPECT_EQ(shared.left(epoch), 1);
  take_up(2, Sent::nothing, refused);
  EXPECT_EQ(shared.left(epoch), 1) << "given back, and withdrawn for the third";
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.failed({false, Sent::nothing, true, Idempotency::yes}, refused, epoch, dice);
  EXPECT_EQ(exchange.ledger().back().budget_left, 2);
}

TEST_F(TakenUp, AFirstAttemptThatWasKeptHereFeedsNothingThroughItsRetry) {
  const AttemptReport unsent{false, Sent::nothing, true, Idempotency::yes};
  std::ignore = exchange.begin(epoch, dice);
  EXPECT_TRUE(play::waits(exchange.failed(unsent, {Stage::connect, Cause::no_descriptor}, epoch, dice)));
  EXPECT_EQ(shared.left(epoch), 0);
  std::ignore = exchange.waited(epoch + 250ms);
  std::ignore = exchange.responded(safe, {200, {}}, epoch + 250ms, dice);
  EXPECT_EQ(shared.left(epoch + 250ms), 0);
}

TEST_F(TakenUp, ComesBeforeTheBeginningAndInOrder) {
  EXPECT_DEBUG_DEATH(take_up(2, Sent::maybe, Responded{503, {}}), "number");
  std::ignore = exchange.begin(epoch, dice);
  EXPECT_DEBUG_DEATH(take_up(1, Sent::maybe, Responded{503, {}}), "idle");
}

TEST_F(ExchangeTest, PreconditionsAreAssertedWhereAssertsAre) {
  Exchange exchange(policy, get, nullptr, epoch);
  const Actions asked = exchange.begin(epoch, dice);
  EXPECT_DEBUG_DEATH(static_cast<void>(asked[1]), "");
  EXPECT_DEBUG_DEATH(exchange.delivered(), "delivering");
}

TEST_F(ExchangeTest, LosesTheRaceForTheLastRetry) {
  Exchange first(policy, get, &budget, epoch);
  Exchange second(policy, get, &budget, epoch);
  std::ignore = first.begin(epoch, dice);
  std::ignore = second.begin(epoch, dice);
  EXPECT_TRUE(play::waits(first.responded(safe, {503, {}}, epoch, dice)));
  EXPECT_FALSE(play::waits(second.responded(safe, {503, {}}, epoch, dice)));
  EXPECT_EQ(second.ledger().reason, Reason::budget_spent);
}

/// Dice of an exchange that is overtaken: while it decides, somebody else takes a retry.
struct OvertakenDice final : Dice {
  explicit OvertakenDice(Budget& from) : budget(from) {}
  std::uint64_t roll(std::uint64_t highest) override {
    EXPECT_TRUE(budget.withdraw(epoch)) << "it was there when the decision began";
    return highest;
  }
  Budget& budget;
};

TEST_F(ExchangeTest, StartsNoRetryThatAnotherTookWhileItDecided) {
  Exchange exchange(policy, get, &budget, epoch);
  std::ignore = exchange.begin(epoch, dice);
  OvertakenDice overtaken(budget);
  const Actions actions = exchange.responded(safe, {503, {}}, epoch, overtaken);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Deliver>(actions[0]));
  EXPECT_EQ(exchange.ledger().reason, Reason::budget_spent);
}

TEST_F(ExchangeTest, BeginsOnce) {
  Budget earned({1, 0, 10s});
  Exchange exchange(policy, get, &earned, epoch);
  EXPECT_EQ(exchange.begin(epoch, dice).size(), 1U);
  EXPECT_EQ(exchange.begin(epoch, dice).size(), 0U);
  std::ignore = exchange.responded(safe, {200, {}}, epoch, dice);
  EXPECT_EQ(earned.left(epoch), 1) << "one first attempt";
}

TEST_F(ExchangeTest, GivesBackWhatAWaitHadTaken) {
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

TEST_F(ExchangeTest, KeepsWhatAStartedRetryCost) {
  Exchange exchange(policy, get, &budget, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(safe, {503, {}}, epoch, dice);
  std::ignore = exchange.waited(epoch + 250ms);
  std::ignore = exchange.client_reset(epoch + 1s);
  EXPECT_EQ(budget.left(epoch + 1s), 0);
}

TEST_F(ExchangeTest, CountsItsFirstAttemptForTheBudget) {
  Budget earned({1, 0, 10s});
  Exchange exchange(policy, get, &earned, epoch);
  EXPECT_EQ(earned.left(epoch), 0);
  std::ignore = exchange.begin(epoch, dice);
  EXPECT_EQ(earned.left(epoch), 0) << "it may never leave this host";
  std::ignore = exchange.responded(safe, {200, {}}, epoch, dice);
  EXPECT_EQ(earned.left(epoch), 1);
}

// Attempt 2 brought no response: what is said of one cannot mean the response of attempt 1.
TEST_F(ExchangeTest, KeepsAnOlderResponseWhateverIsSaidOfANewerOne) {
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

TEST_F(ExchangeTest, ObserveDrawsOnItsShadowBudget) {
  policy.mode = Mode::observe;
  Exchange exchange(policy, get, &budget, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(safe, {503, {}}, epoch, dice);
  EXPECT_EQ(exchange.ledger().reason, Reason::observe_only);
  EXPECT_EQ(budget.left(epoch), 0);
}

TEST_F(ExchangeTest, AResetBeforeTheBeginningLeaves) {
  Exchange exchange(policy, get, nullptr, epoch);
  const Actions actions = exchange.client_reset(epoch);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Leave>(actions[0]));
  EXPECT_TRUE(exchange.over());
  EXPECT_TRUE(exchange.ledger().empty());
}

TEST_F(ExchangeTest, client_that_has_gone_is_the_reason_when_a_shutdown_came_first) {
  Exchange one(policy, get, nullptr, epoch);
  std::ignore = one.begin(epoch, dice);
  std::ignore = one.shutdown(epoch);
  std::ignore = one.client_finished(epoch);
  std::ignore = one.responded(safe, {503, {}}, epoch + 1ms, dice);
  EXPECT_EQ(one.ledger().reason, Reason::client_gone);
}

TEST_F(ExchangeTest, WritesDownACancelledAttempt) {
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

TEST_F(ExchangeTest, WritesDownABodyThatBroke) {
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

TEST_F(ExchangeTest, E11_TheSignatureCountsForADownloadWhateverTheRouteSaysOfIt) {
  Exchange exchange(policy, {Idempotency::yes, true, false}, {}, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(safe, {200, {}}, epoch, dice);
  std::ignore = exchange.body_broke({Cause::reset, true, true, false, epoch + 1s}, epoch + 2s, dice);
  EXPECT_EQ(exchange.ledger().reason, Reason::signature_expired);
}

TEST_F(ExchangeTest, ABreakOfAKeptResponseIsWrittenToItsOwnAttempt) {
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

TEST_F(ExchangeTest, ReportsReachTheLedger) {
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

TEST_F(ExchangeTest, TheNewestJudgementCounts) {
  Exchange exchange(policy, {Idempotency::undecided, false, false}, nullptr, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded({false, Sent::maybe, true, Idempotency::yes}, {503, {}}, epoch, dice);
  std::ignore = exchange.waited(epoch + 250ms);
  std::ignore = exchange.responded({false, Sent::maybe, true, Idempotency::no}, {503, {}}, epoch + 1s, dice);
  EXPECT_EQ(exchange.ledger().reason, Reason::not_idempotent);
}

TEST_F(ExchangeTest, TheLedgerTellsARetryFromAnAttemptThatStoodAlone) {
  for (const int status : {200, 503}) {
    Exchange exchange(policy, get, nullptr, epoch);
    std::ignore = exchange.begin(epoch, dice);
    std::ignore = exchange.responded(safe, {status, {}}, epoch, dice);
    EXPECT_EQ(exchange.ledger().retried(), status == 503);
  }
}

TEST(LedgerTest, HoldsMoreThanItsInlineEntries) {
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
