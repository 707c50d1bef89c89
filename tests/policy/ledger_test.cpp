// Tests the ledger of a request that has more attempts than a ledger keeps, and the budget that these
// attempts use.
#include "proxy/policy/decision/ledger.hpp"

#include <gtest/gtest.h>

#include "tests/policy/stories.hpp"

namespace reprise::policy::ledger_test {
namespace {

using namespace std::chrono_literals;

LedgerEntry entry(unsigned number, const Outcome& outcome = Failed{Stage::connect, Cause::refused}) {
  LedgerEntry made;
  made.attempt.number = number;
  made.outcome = outcome;
  made.verdict = {true, 2ms, Reason::retryable_failure};
  return made;
}

Ledger of(unsigned attempts) {
  Ledger ledger;
  for (unsigned number = 1; number <= attempts; ++number) ledger.add(entry(number));
  return ledger;
}

std::vector<unsigned> numbers(const Ledger& ledger) {
  std::vector<unsigned> kept;
  for (std::size_t i = 0; i < ledger.size(); i = ledger.next(i)) kept.push_back(ledger[i].attempt.number);
  return kept;
}

TEST(Ledger, L25_ledger_keeps_every_attempt_up_to_64) {
  for (const unsigned attempts : {0U, 1U, 4U, 5U, 32U, 33U, 64U}) {
    const Ledger ledger = of(attempts);
    ASSERT_EQ(numbers(ledger).size(), attempts);
    EXPECT_EQ(ledger.evicted(), nullptr);
    for (unsigned i = 0; i < attempts; ++i) EXPECT_EQ(ledger[i].attempt.number, i + 1);
  }
}

TEST(Ledger, L25_ledger_keeps_the_first_and_last_32_and_counts_the_others) {
  for (const unsigned attempts : {65U, 66U, 96U, 97U, 1000U, 100'000U}) {
    const Ledger ledger = of(attempts);
    EXPECT_EQ(ledger.size(), attempts);
    EXPECT_EQ(ledger.back().attempt.number, attempts);
    const std::vector<unsigned> kept = numbers(ledger);
    ASSERT_EQ(kept.size(), Ledger::first_kept + Ledger::last_kept);
    for (unsigned i = 0; i < 32; ++i) {
      EXPECT_EQ(kept[i], i + 1);
      EXPECT_EQ(kept[32 + i], attempts - 31 + i);
    }
    EXPECT_FALSE(ledger.keeps(32));
    ASSERT_NE(ledger.evicted(), nullptr);
    EXPECT_EQ(ledger.evicted()->attempts, attempts - 64);
  }
}

TEST(Ledger, L25_ledger_counts_the_outcomes_of_evicted_attempts) {
  Ledger ledger = of(32);
  Responded asked{503, {}};
  asked.hints.retry_after = 3s;
  LedgerEntry sent = entry(33, asked);
  sent.attempt.sent = Sent::maybe;
  sent.verdict = {true, 500ms, Reason::retryable_status};
  ledger.add(sent);
  LedgerEntry stale = entry(34, Failed{Stage::send, Cause::closed});
  stale.verdict = {true, 0ms, Reason::stale_connection};
  ledger.add(stale);
  LedgerEntry continued = entry(35, Responded{206, {}});
  continued.attempt.sent = Sent::maybe;
  continued.verdict = {false, 0ms, Reason::success};
  ledger.add(continued);
  for (unsigned number = 36; number <= 67; ++number) ledger.add(entry(number));
  const Evicted& all = *ledger.evicted();
  EXPECT_EQ(all.attempts, 3U);
  const auto outcome = [&](std::string_view label) {
    const auto found = std::find(outcome_labels.begin(), outcome_labels.end(), label);
    return all.outcomes[static_cast<std::size_t>(found - outcome_labels.begin())];
  };
  EXPECT_EQ(outcome("5xx"), 1U);
  EXPECT_EQ(outcome("reset"), 1U);
  EXPECT_EQ(outcome("2xx"), 1U);
  EXPECT_EQ(all.retries[static_cast<std::size_t>(Reason::retryable_status)], 1U);
  EXPECT_EQ(all.retries[static_cast<std::size_t>(Reason::stale_connection)], 1U);
  EXPECT_EQ(all.waits, 1U) << "the free retry came at once";
  EXPECT_DOUBLE_EQ(all.waited, 0.5);
  EXPECT_EQ(all.pauses, 1U);
  EXPECT_DOUBLE_EQ(all.paused, 3);
  EXPECT_EQ(all.first_sent, 33U);
  EXPECT_TRUE(ledger.retried());
}

TEST(Ledger, L25_ledger_never_evicts_the_attempt_whose_response_may_be_delivered) {
  Ledger ledger = of(39);
  ledger.hold(40);
  ledger.add(entry(40, Responded{503, {}}));
  for (unsigned number = 41; number <= 500; ++number) ledger.add(entry(number));
  ASSERT_TRUE(ledger.keeps(39));
  EXPECT_EQ(ledger[39].attempt.number, 40U);
  EXPECT_EQ(std::get<Responded>(ledger[39].outcome).status, 503);
  EXPECT_EQ(ledger.next(31), 39U);
  EXPECT_EQ(ledger.next(39), 468U);
  EXPECT_EQ(ledger.evicted()->attempts, 500U - 65U);
  ledger.hold(501);
  EXPECT_FALSE(ledger.keeps(39)) << "another response came";
  EXPECT_EQ(ledger.evicted()->attempts, 500U - 64U);
}

TEST(Ledger, cancelled_attempt_does_not_count_as_lost_although_bytes_were_sent) {
  Ledger ledger;
  LedgerEntry sent = entry(1, Failed{Stage::await_head, Cause::cancelled});
  sent.attempt.sent = Sent::maybe;
  ledger.add(sent);
  EXPECT_FALSE(ledger.lost());
  AttemptReport report;
  report.sent = Sent::maybe;
  ledger.correct(1, report, Failed{Stage::await_head, Cause::reset}, Instant(1s));
  ASSERT_TRUE(ledger.lost());
  EXPECT_EQ(ledger.lost()->number, 1U);
  EXPECT_EQ(ledger[0].ended, Instant(1s));
}

// Attempt 40 was the first attempt that was sent, but the ledger evicts it after attempts with higher
// numbers.
TEST(Ledger, L25_attempt_evicted_after_later_attempts_still_counts_as_the_first_that_was_sent) {
  Ledger ledger = of(39);
  ledger.hold(40);
  for (unsigned number = 40; number <= 200; ++number) {
    LedgerEntry sent = entry(number, Responded{503, {}});
    sent.attempt.sent = Sent::maybe;
    ledger.add(sent);
  }
  EXPECT_EQ(ledger.evicted()->first_sent, 41U);
  ledger.hold(201);
  EXPECT_EQ(ledger.evicted()->first_sent, 40U);
}

}  // namespace
}  // namespace reprise::policy::ledger_test

namespace reprise::play {
namespace {

policy::RoutePolicy endless() {
  policy::RoutePolicy route;
  route.retry.max_attempts.reset();
  route.retry.deadline.reset();
  route.retry.backoff = {0ms, 1, 1ms, policy::Jitter::none};
  route.budget.reset();
  return route;
}

TEST(Exchange, L25_unlimited_attempts_use_bounded_memory_and_end_as_usual) {
  Scene scene = put();
  scene.policy = endless();
  for (const std::size_t failures : {63U, 64U, 65U, 200U, 20'000U}) {
    Script script(failures, status(503));
    script.push_back(status(404));
    const Played played = run(scene, script);
    EXPECT_EQ(first_broken_law(scene, script, played), "");
    EXPECT_EQ(played.ledger.size(), failures + 1);
    EXPECT_TRUE(played.ledger.ambiguous);
    EXPECT_LE(played.ledger.next(31), failures);
  }
}

// The only attempt that may have had an effect was evicted from the ledger.
TEST(Exchange, L25_evicted_attempt_that_may_have_had_an_effect_makes_the_response_ambiguous) {
  Scene scene = put();
  scene.policy = endless();
  for (const bool sent : {true, false}) {
    Script script(100, refused);
    if (sent) script[50] = reset;
    script.push_back(status(409));
    const Played played = run(scene, script);
    EXPECT_EQ(first_broken_law(scene, script, played), "");
    EXPECT_EQ(played.ledger.ambiguous, sent);
  }
}

// Attempt 40 gets a response, which is kept. All later attempts are refused, and the kept response is
// delivered.
TEST(Exchange, L25_response_kept_many_attempts_ago_is_delivered) {
  Scene scene = put();
  scene.policy = endless();
  scene.policy.retry.max_attempts = 300;
  Script script(39, refused);
  script.push_back(status(503));
  script.push_back(refused);
  const Played played = run(scene, script);
  EXPECT_EQ(first_broken_law(scene, script, played), "");
  EXPECT_EQ(std::get<policy::Deliver>(played.events[played.events.size() - 2].actions[0]).number, 40U);
  EXPECT_TRUE(played.ledger.keeps(39));
}

// A response cannot refer to effects of later attempts, whether these were evicted or not.
TEST(Exchange, L25_response_is_not_ambiguous_because_of_attempts_made_after_it) {
  Scene scene = put();
  scene.policy = endless();
  scene.policy.retry.max_attempts = 300;
  scene.policy.retry.on.statuses.set(409);
  Script script{refused, status(409), reset};
  const Played played = run(scene, script);
  EXPECT_EQ(first_broken_law(scene, script, played), "");
  EXPECT_EQ(std::get<policy::Deliver>(played.events[played.events.size() - 2].actions[0]).number, 2U);
  ASSERT_NE(played.ledger.evicted(), nullptr);
  EXPECT_GT(played.ledger.evicted()->first_sent, 2U);
  EXPECT_FALSE(played.ledger.ambiguous);
}

}  // namespace
}  // namespace reprise::play
