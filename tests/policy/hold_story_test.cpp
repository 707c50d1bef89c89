// Tests stories of held responses: a break or an error before the client has received a byte is still
// retried.
#include <gtest/gtest.h>

#include "tests/policy/stories.hpp"

namespace reprise::play {
namespace {

const Step listed = status(200).body_listed();
const Step cut_short = fails(Stage::body, Cause::truncated);

Scene lists_truncated(const Scene& scene) {
  return scene.with([](auto& p, auto&) { p.retry.on.truncated = true; });
}

std::vector<Story> bodies() {
  return {
      {"p20_overloaded_twice_then_good",
       get(),
       {listed, listed, status(200)},
       "attempt 1 -> 200 with a listed body | sleep 250ms\n"
       "attempt 2 -> 200 with a listed body | sleep 500ms\n"
       "attempt 3 -> 200 | deliver (success)\n"},
      {"a_listed_body_of_a_post_is_delivered",
       post(),
       {listed},
       "attempt 1 -> 200 with a listed body | deliver (not_idempotent)\n"},
      {"a_listed_body_is_the_last_response",
       get().attempts(2),
       {listed},
       "attempt 1 -> 200 with a listed body | sleep 250ms\n"
       "attempt 2 -> 200 with a listed body | deliver (attempts_spent)\n"},
      {"a_listed_body_is_the_kept_response",
       get().attempts(2),
       {listed, refused},
       "attempt 1 -> 200 with a listed body | sleep 250ms\n"
       "attempt 2 -> connect refused | deliver 1 (attempts_spent)\n"},
      {"a_listed_body_too_long_to_keep",
       get().attempts(2),
       {listed.response(Keeping::dropped), refused},
       "attempt 1 -> 200 with a listed body | sleep 250ms\n"
       "attempt 2 -> connect refused | fail (attempts_spent)\n"},
      {"a_listed_body_with_a_hint",
       get(),
       {listed.retry_after(1s), status(200)},
       "attempt 1 -> 200 Retry-After 1000ms with a listed body | sleep 1000ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"a_listed_body_that_says_no",
       get(),
       {listed.says_no()},
       "attempt 1 -> 200 said no with a listed body | deliver (upstream_said_no)\n"},
      {"a_listed_body_is_observed",
       get().mode(policy::Mode::observe),
       {listed},
       "attempt 1 -> 200 with a listed body | deliver (observe_only)\n"},
      {"a_listed_body_without_replay",
       put(),
       {listed.not_held()},
       "attempt 1 -> 200 with a listed body | deliver (not_replayable)\n"},
      {"a_listed_body_and_no_budget",
       get().budget(0),
       {listed},
       "attempt 1 -> 200 with a listed body | deliver (budget_spent)\n"},
      {"a_listed_body_too_late",
       get().deadline(1s),
       {listed.takes(900ms)},
       "attempt 1 -> 200 with a listed body | deliver (deadline_too_near)\n"},
      {"shutdown_in_the_wait_after_a_listed_body",
       get(),
       {listed.wait_sees(Interruption::shutdown)},
       "attempt 1 -> 200 with a listed body | sleep 250ms\n"
       "shutdown during the wait | deliver (shutting_down)\n"},
  };
}

std::vector<Story> breaks() {
  return {
      {"a_held_break_is_retried_where_listed",
       lists_truncated(get()),
       {cut_short, status(200)},
       "attempt 1 -> body truncated | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"a_held_break_is_delivered_as_it_came",
       get(),
       {cut_short},
       "attempt 1 -> body truncated | deliver (not_retryable)\n"
       "the body breaks | cut (not_retryable)\n"},
      {"a_held_break_of_a_post_is_delivered",
       lists_truncated(post()),
       {cut_short},
       "attempt 1 -> body truncated | deliver (not_idempotent)\n"
       "the body breaks | cut (not_idempotent)\n"},
      {"a_held_break_is_the_last_response",
       lists_truncated(get()).attempts(2),
       {cut_short},
       "attempt 1 -> body truncated | sleep 250ms\n"
       "attempt 2 -> body truncated | deliver (attempts_spent)\n"
       "the body breaks | cut (attempts_spent)\n"},
      {"a_held_break_is_not_kept",
       lists_truncated(get()).attempts(2),
       {cut_short, refused},
       "attempt 1 -> body truncated | sleep 250ms\n"
       "attempt 2 -> connect refused | fail (attempts_spent)\n"},
      {"a_held_break_leaves_an_older_response_kept",
       lists_truncated(get()).attempts(3),
       {status(503), cut_short, refused},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> body truncated | sleep 500ms\n"
       "attempt 3 -> connect refused | deliver 1 (attempts_spent)\n"},
  };
}

std::vector<Story> other_breaks() {
  return {
      {"a_reset_in_a_held_body",
       lists_truncated(get()),
       {fails(Stage::body, Cause::reset), status(200)},
       "attempt 1 -> body reset | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"bad_framing_in_a_held_body_is_never_listed",
       lists_truncated(get()),
       {fails(Stage::body, Cause::malformed_response)},
       "attempt 1 -> body malformed_response | deliver (not_retryable)\n"
       "the body breaks | cut (not_retryable)\n"},
      {"a_held_break_too_late_for_504",
       lists_truncated(get()).deadline(1s).with(
           [](auto& p, auto&) { p.retry.out_of_time = policy::OutOfTime::gateway_timeout; }),
       {cut_short.takes(900ms)},
       "attempt 1 -> body truncated | fail 504 (deadline_too_near)\n"},
      {"a_held_break_is_continued_where_it_is_not_repeated",
       get(),
       {cut_short.body_breaks(Breaking::mid_way), status(206)},
       "attempt 1 -> body truncated | deliver (not_retryable)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 206 | continue\n"},
      {"a_held_break_is_repeated_before_it_is_continued",
       lists_truncated(get()).attempts(2),
       {cut_short.body_breaks(Breaking::mid_way), cut_short.body_breaks(Breaking::mid_way), status(206)},
       "attempt 1 -> body truncated | sleep 250ms\n"
       "attempt 2 -> body truncated | deliver (attempts_spent)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 3 -> 206 | continue\n"},
      {"rst_while_a_held_break_is_delivered",
       get(),
       {cut_short.body_sees(Interruption::rst)},
       "attempt 1 -> body truncated | deliver (not_retryable)\n"
       "RST during the body | cancel 1, leave (client_gone)\n"},
  };
}

class Hold : public testing::TestWithParam<Story> {};

TEST_P(Hold, scenario_has_the_expected_transcript) {
  EXPECT_EQ(play(GetParam().scene, GetParam().script), GetParam().transcript);
}

INSTANTIATE_TEST_SUITE_P(Stories, Hold, testing::ValuesIn(hold_stories()),
                         [](const auto& instance) { return instance.param.name; });

// The ledger entry of the broken attempt has the reason `resumed`, but the exchange as a whole ends in
// success.
TEST(HeldBreak, exchange_with_a_resumed_held_response_ends_in_success) {
  const Played played = run(get(), {cut_short.body_breaks(Breaking::mid_way), status(206)});
  EXPECT_EQ(played.ledger[0].verdict.reason, policy::Reason::resumed);
  EXPECT_EQ(played.ledger.reason, policy::Reason::success);
}

}  // namespace

std::vector<Story> hold_stories() { return joined({bodies(), breaks(), other_breaks()}); }

}  // namespace reprise::play
