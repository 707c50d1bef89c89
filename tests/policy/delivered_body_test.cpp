// Tests the state of the body that the client receives, also when the body breaks or stalls. Also tests the
// response that is kept during a wait.
#include "proxy/policy/decision/delivered_body.hpp"

#include <gtest/gtest.h>

#include "proxy/policy/decision/response_at_hand.hpp"

namespace reprise::policy::delivered_body_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant noon{std::chrono::hours(12)};

struct DeliveredBodyTest : testing::Test {
  DeliveredBodyTest() {
    LedgerEntry first;
    first.outcome = Responded{200, {}};
    first.verdict = {false, {}, Reason::success};
    ledger.add(first);
    ledger.add(first);
  }

  Ledger ledger;
  DeliveredBody body{1};
};

const Failed& failure(const LedgerEntry& entry) { return std::get<Failed>(entry.outcome); }

TEST_F(DeliveredBodyTest, body_failure_is_recorded_in_the_attempt_it_came_from) {
  EXPECT_FALSE(body.continuable());
  body.broke({.cause = Cause::reset, .continuable = true}, ledger, noon);
  EXPECT_TRUE(body.continuable());
  EXPECT_EQ(failure(ledger[0]).stage, Stage::body);
  EXPECT_EQ(failure(ledger[0]).cause, Cause::reset);
  EXPECT_EQ(ledger[0].ended, noon);
  body.continued_by(2);
  EXPECT_EQ(body.attempt(), 2U);
  body.broke({.cause = Cause::truncated}, ledger, noon + 1s);
  EXPECT_FALSE(body.continuable());
  EXPECT_EQ(failure(ledger[1]).cause, Cause::truncated);
}

TEST_F(DeliveredBodyTest, history_counts_resumes_since_the_last_received_byte) {
  EXPECT_EQ(body.history(3s).wait, 0s) << "no resume has waited yet";
  body.resume_scheduled();
  body.resume_scheduled();
  EXPECT_EQ(body.history(3s).in_vain, 2U);
  EXPECT_EQ(body.history(3s).wait, 3s);
  body.broke({}, ledger, noon);
  EXPECT_EQ(body.history(3s).in_vain, 2U);
  body.broke({.progress = true}, ledger, noon);
  EXPECT_EQ(body.history(3s).in_vain, 0U);
}

TEST_F(DeliveredBodyTest, attempt_with_a_stalled_body_gets_its_earlier_outcome_back_when_the_body_continues) {
  body.broke({.stays_open = true}, ledger, noon);
  body.resume_scheduled();
  body.continued_by(2);
  ledger.reason = Reason::resumed;
  const auto stalled = body.went_on(ledger);
  ASSERT_TRUE(stalled);
  EXPECT_EQ(stalled->attempt, 1U);
  EXPECT_EQ(stalled->reason, Reason::success);
  EXPECT_EQ(std::get<Responded>(ledger[0].outcome).status, 200);
  EXPECT_EQ(body.attempt(), 1U);
  EXPECT_EQ(body.history(3s).in_vain, 0U);
  EXPECT_FALSE(body.went_on(ledger)) << "it goes on once";
}

TEST_F(DeliveredBodyTest, body_whose_connection_has_closed_cannot_continue) {
  body.broke({}, ledger, noon);
  EXPECT_FALSE(body.went_on(ledger));
  EXPECT_TRUE(std::holds_alternative<Failed>(ledger[0].outcome));
}

TEST_F(DeliveredBodyTest, stalled_body_is_discarded_if_its_resume_made_progress_or_its_connection_closed) {
  body.broke({.stays_open = true}, ledger, noon);
  body.broke({.stays_open = false}, ledger, noon);
  EXPECT_FALSE(body.went_on(ledger));
  body.broke({.stays_open = true}, ledger, noon);
  body.continued_by(2);
  body.broke({.progress = true, .stays_open = true}, ledger, noon);
  EXPECT_EQ(body.went_on(ledger)->attempt, 2U);
}

TEST_F(DeliveredBodyTest, stalled_body_can_still_continue_if_its_resume_stalled_without_a_byte) {
  body.broke({.stays_open = true}, ledger, noon);
  body.continued_by(2);
  body.broke({.stays_open = true}, ledger, noon);
  EXPECT_EQ(body.went_on(ledger)->attempt, 1U);
}

TEST(ResponseAtHandTest, response_is_lost_with_its_connection_unless_it_is_complete) {
  ResponseAtHand response;
  EXPECT_EQ(response.attempt(), std::nullopt);
  response.arrives(1);
  EXPECT_EQ(response.attempt(), 1U);
  response.connection_taken();
  EXPECT_EQ(response.attempt(), std::nullopt);
  response.arrives(2);
  response.kept();
  response.connection_taken();
  EXPECT_EQ(response.attempt(), 2U);
}

TEST(ResponseAtHandTest, keep_has_no_effect_without_a_response) {
  ResponseAtHand response;
  response.kept();
  EXPECT_EQ(response.attempt(), std::nullopt);
}

TEST(ResponseAtHandTest, newer_response_replaces_a_complete_one) {
  ResponseAtHand response;
  response.arrives(1);
  response.kept();
  response.arrives(2);
  EXPECT_EQ(response.attempt(), 2U);
  response.connection_taken();
  EXPECT_EQ(response.attempt(), std::nullopt);
}

}  // namespace
}  // namespace reprise::policy::delivered_body_test
