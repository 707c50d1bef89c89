// Tests sequences of attempts that reach a limit: max_attempts, the deadline, the budget, or a retry hint of
// the upstream.
#include <gtest/gtest.h>

#include "tests/policy/stories.hpp"

namespace reprise::play {
namespace {

using policy::Backoff;
using policy::Jitter;

Scene short_of_time() { return get().deadline(1s); }
Scene gateway_timeout(const Scene& scene) {
  return scene.with([](auto& p, auto&) { p.retry.out_of_time = policy::OutOfTime::gateway_timeout; });
}
Scene deaf(const Scene& scene) {
  return scene.with([](auto& p, auto&) { p.retry.retry_after.honour = false; });
}

std::vector<Story> limits() {
  return {
      {"attempts_are_spent",
       get(),
       {status(503)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 503 | sleep 500ms\n"
       "attempt 3 -> 503 | sleep 1000ms\n"
       "attempt 4 -> 503 | sleep 2000ms\n"
       "attempt 5 -> 503 | sleep 4000ms\n"
       "attempt 6 -> 503 | deliver (attempts_spent)\n"},
      {"one_attempt_is_no_retry",
       get().attempts(1),
       {status(503)},
       "attempt 1 -> 503 | deliver (attempts_spent)\n"},
      {"unlimited_attempts",
       get().unlimited_attempts(),
       {refused, refused, refused, refused, refused, refused, refused, status(200)},
       "attempt 1 -> connect refused | sleep 250ms\n"
       "attempt 2 -> connect refused | sleep 500ms\n"
       "attempt 3 -> connect refused | sleep 1000ms\n"
       "attempt 4 -> connect refused | sleep 2000ms\n"
       "attempt 5 -> connect refused | sleep 4000ms\n"
       "attempt 6 -> connect refused | sleep 8000ms\n"
       "attempt 7 -> connect refused | sleep 8000ms\n"
       "attempt 8 -> 200 | deliver (success)\n"},
      {"the_budget_is_spent",
       get().budget(1),
       {status(503)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 503 | deliver (budget_spent)\n"},
      {"no_budget_at_all",
       get().budget(0),
       {refused},
       "attempt 1 -> connect refused | fail (budget_spent)\n"},
      {"a_route_without_a_budget",
       get().no_budget().attempts(2),
       {status(503)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 503 | deliver (attempts_spent)\n"},
  };
}

std::vector<Story> deadlines() {
  return {
      {"a_wait_that_would_cross_the_deadline_is_never_started",
       short_of_time(),
       {status(503)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 503 | sleep 500ms\n"
       "attempt 3 -> 503 | deliver (deadline_too_near)\n"},
      {"a_wait_may_end_at_the_deadline",
       get().deadline(750ms),
       {status(503)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 503 | sleep 500ms\n"
       "attempt 3 -> 503 | deliver (deadline_too_near)\n"},
      {"c22_a_wait_that_ends_after_the_deadline_starts_nothing",
       get().deadline(750ms).budget(2),
       {status(503), status(503).wakes_late(1ms)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 503 | sleep 500ms\n"
       "the wait ends late | deliver (deadline_too_near)\n"},
      {"a_late_wait_gives_the_response_that_is_still_being_read",
       get().deadline(250ms),
       {status(503).wakes_late(1ms).response(Keeping::still_reading)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "the wait ends late | deliver (deadline_too_near)\n"},
      {"a_late_wait_with_nothing_to_give",
       get().deadline(250ms),
       {status(503).wakes_late(1ms).response(Keeping::dropped)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "the wait ends late | fail (deadline_too_near)\n"},
      {"an_attempt_longer_than_the_deadline",
       get(),
       {status(503).takes(61s)},
       "attempt 1 -> 503 | deliver (deadline_too_near)\n"},
      {"a_success_after_the_deadline_is_a_success",
       get(),
       {status(200).takes(61s)},
       "attempt 1 -> 200 | deliver (success)\n"},
  };
}

std::vector<Story> out_of_time() {
  return {
      {"out_of_time_504",
       gateway_timeout(short_of_time()),
       {status(503)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 503 | sleep 500ms\n"
       "attempt 3 -> 503 | fail 504 (deadline_too_near)\n"},
      {"out_of_time_504_with_a_kept_response",
       gateway_timeout(short_of_time()),
       {status(503), refused},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> connect refused | sleep 500ms\n"
       "attempt 3 -> connect refused | fail 504 (deadline_too_near)\n"},
      {"out_of_time_504_is_for_upstreams_that_answered",
       gateway_timeout(short_of_time()),
       {refused},
       "attempt 1 -> connect refused | sleep 250ms\n"
       "attempt 2 -> connect refused | sleep 500ms\n"
       "attempt 3 -> connect refused | fail (deadline_too_near)\n"},
      {"out_of_time_504_is_for_the_deadline_only",
       gateway_timeout(get().attempts(1)),
       {status(503)},
       "attempt 1 -> 503 | deliver (attempts_spent)\n"},
  };
}

std::vector<Story> hints() {
  return {
      {"a_hint_longer_than_the_backoff",
       get(),
       {status(503).retry_after(3s), status(200)},
       "attempt 1 -> 503 Retry-After 3000ms | sleep 3000ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"a_hint_shorter_than_the_backoff",
       get(),
       {status(429).retry_after(100ms), status(200)},
       "attempt 1 -> 429 Retry-After 100ms | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"a_hint_of_the_maximum",
       get().deadline(10min),
       {status(503).retry_after(60s), status(200)},
       "attempt 1 -> 503 Retry-After 60000ms | sleep 60000ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"a_hint_above_the_maximum_is_never_clamped",
       get().deadline(10min),
       {status(503).retry_after(61s)},
       "attempt 1 -> 503 Retry-After 61000ms | deliver (upstream_said_later)\n"},
      {"a_hint_above_what_the_deadline_leaves",
       get(),
       {status(503).retry_after(31s).takes(30s)},
       "attempt 1 -> 503 Retry-After 31000ms | deliver (upstream_said_later)\n"},
      {"a_hint_of_what_the_deadline_leaves",
       get(),
       {status(503).retry_after(30s).takes(30s), status(200)},
       "attempt 1 -> 503 Retry-After 30000ms | sleep 30000ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"a_hint_that_is_not_honoured",
       deaf(get()),
       {status(503).retry_after(24h), status(200)},
       "attempt 1 -> 503 Retry-After 86400000ms | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"a_hint_does_not_make_a_post_repeatable",
       post(),
       {status(503).retry_after(1s)},
       "attempt 1 -> 503 Retry-After 1000ms | deliver (not_idempotent)\n"},
      {"a_hint_on_a_final_response_is_no_wait",
       get(),
       {status(200).retry_after(1s)},
       "attempt 1 -> 200 Retry-After 1000ms | deliver (success)\n"},
  };
}

std::vector<Story> aws_hints() {
  return {
      {"aws_a_hint_below_the_backoff",
       get(),
       {status(503).aws_retry_after(100ms), status(200)},
       "attempt 1 -> 503 x-amz-retry-after 100ms | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"aws_a_hint_within_five_seconds",
       get(),
       {status(503).aws_retry_after(3s), status(503), status(200)},
       "attempt 1 -> 503 x-amz-retry-after 3000ms | sleep 3000ms\n"
       "attempt 2 -> 503 | sleep 500ms\n"
       "attempt 3 -> 200 | deliver (success)\n"},
      {"aws_a_hint_above_is_clamped",
       get(),
       {status(503).aws_retry_after(1h), status(200)},
       "attempt 1 -> 503 x-amz-retry-after 3600000ms | sleep 5250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"aws_five_seconds_count_from_the_drawn_wait",
       get().rolling(LoadedDice::lowest()),
       {status(503).aws_retry_after(7s), status(200)},
       "attempt 1 -> 503 x-amz-retry-after 7000ms | sleep 5125ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"aws_the_longer_of_both_hints_counts",
       get(),
       {status(503).retry_after(10s).aws_retry_after(3s), status(429).retry_after(1s).aws_retry_after(4s),
        status(200)},
       "attempt 1 -> 503 Retry-After 10000ms x-amz-retry-after 3000ms | sleep 10000ms\n"
       "attempt 2 -> 429 Retry-After 1000ms x-amz-retry-after 4000ms | sleep 4000ms\n"
       "attempt 3 -> 200 | deliver (success)\n"},
      {"aws_a_hint_that_is_not_honoured",
       deaf(get()),
       {status(503).aws_retry_after(3s), status(200)},
       "attempt 1 -> 503 x-amz-retry-after 3000ms | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"aws_a_hint_of_what_the_deadline_leaves",
       get().deadline(3s),
       {status(503).aws_retry_after(3s), status(200)},
       "attempt 1 -> 503 x-amz-retry-after 3000ms | sleep 3000ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"aws_a_hint_above_what_the_deadline_leaves",
       get().deadline(3s),
       {status(503).aws_retry_after(3001ms)},
       "attempt 1 -> 503 x-amz-retry-after 3001ms | deliver (deadline_too_near)\n"},
      {"aws_a_hint_does_not_make_a_post_repeatable",
       post(),
       {status(503).aws_retry_after(1s)},
       "attempt 1 -> 503 x-amz-retry-after 1000ms | deliver (not_idempotent)\n"},
  };
}

std::vector<Story> signatures() {
  return {
      {"signed_until_the_last_attempt",
       get().signed_until(epoch + 750ms),
       {status(503), status(503), status(200)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 503 | sleep 500ms\n"
       "attempt 3 -> 200 | deliver (success)\n"},
      {"a_wait_that_would_outlast_the_signature_is_never_started",
       get().signed_until(epoch + 749ms),
       {status(503)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 503 | deliver (signature_expired)\n"},
      {"a_wait_that_ends_after_the_signature_starts_nothing",
       get().signed_until(epoch + 250ms).budget(2),
       {status(503).wakes_late(1ms)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "the wait ends late | deliver (signature_expired)\n"},
      {"a_wait_that_ends_with_the_signature",
       get().signed_until(epoch + 251ms),
       {status(503).wakes_late(1ms), status(200)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"the_signature_runs_out_with_nothing_to_give",
       get().signed_until(epoch + 249ms),
       {refused},
       "attempt 1 -> connect refused | fail (signature_expired)\n"},
      {"a_hint_that_outlasts_the_signature",
       get().signed_until(epoch + 2s),
       {status(503).retry_after(3s)},
       "attempt 1 -> 503 Retry-After 3000ms | deliver (signature_expired)\n"},
      {"aws_a_hint_that_outlasts_the_signature",
       get().signed_until(epoch + 2s),
       {status(503).aws_retry_after(3s)},
       "attempt 1 -> 503 x-amz-retry-after 3000ms | deliver (signature_expired)\n"},
  };
}

std::vector<Story> signatures_beside_other_rules() {
  return {
      {"the_deadline_is_named_before_the_signature",
       get().deadline(200ms).signed_until(epoch + 100ms),
       {status(503)},
       "attempt 1 -> 503 | deliver (deadline_too_near)\n"},
      {"the_signature_is_named_before_the_budget",
       get().budget(0).signed_until(epoch + 100ms),
       {status(503)},
       "attempt 1 -> 503 | deliver (signature_expired)\n"},
      {"a_stale_connection_at_the_end_of_the_signature",
       get().signed_until(epoch + 1s),
       {closed.reused().takes(1s), status(200)},
       "attempt 1 reused -> await_head closed | again at once\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"a_stale_connection_after_the_end_of_the_signature",
       get().signed_until(epoch + 1s),
       {closed.reused().takes(1001ms)},
       "attempt 1 reused -> await_head closed | fail (signature_expired)\n"},
      {"a_stale_connection_after_the_end_though_nothing_was_sent",
       post().signed_until(epoch + 1s),
       {closed.reused().nothing_sent().takes(1001ms)},
       "attempt 1 reused -> await_head closed | fail (signature_expired)\n"},
      {"a_response_after_the_end_of_the_signature_is_a_response",
       get().signed_until(epoch + 1s),
       {status(200).takes(2s)},
       "attempt 1 -> 200 | deliver (success)\n"},
  };
}

class Limit : public testing::TestWithParam<Story> {};

TEST_P(Limit, scenario_has_the_expected_transcript) {
  EXPECT_EQ(play(GetParam().scene, GetParam().script), GetParam().transcript);
}

INSTANTIATE_TEST_SUITE_P(Stories, Limit, testing::ValuesIn(limit_stories()),
                         [](const auto& instance) { return instance.param.name; });

// Returns the scene that docs/requirements/retry.md describes for waits and limits, on the simulated clock.
Scene document(Duration maximum, Duration deadline, Jitter jitter) {
  return get().unlimited_attempts().no_budget().deadline(deadline).backoff({1s, 2, maximum, jitter});
}

std::vector<double> starts_of(const Scene& scene) {
  const Script script{status(503)};
  const Played played = run(scene, script);
  EXPECT_EQ(first_broken_law(scene, script, played), "");
  return starts(played);
}

using Starts = std::vector<double>;

TEST(Clause, R19_retries_continue_until_the_deadline) {
  const Scene scene = document(64s, 600s, Jitter::additive).rolling(LoadedDice::lowest());
  const Starts expected{0, 1, 3, 7, 15, 31, 63, 127, 191, 255, 319, 383, 447, 511, 575};
  EXPECT_EQ(starts_of(scene), expected);
}

TEST(Clause, R27_waits_without_jitter_double_exactly_up_to_the_maximum) {
  EXPECT_EQ(starts_of(document(60s, 120s, Jitter::none)), (Starts{0, 1, 3, 7, 15, 31, 63}));
}

TEST(Clause, R12_first_wait_is_one_second_plus_a_random_part) {
  const Scene scene = document(64s, 600s, Jitter::additive).attempts(4);
  EXPECT_EQ(starts_of(scene.rolling(LoadedDice::scripted({7, 0, 1000}))), (Starts{0, 1.007, 3.007, 8.007}));
  EXPECT_EQ(starts_of(scene.rolling(LoadedDice::highest())), (Starts{0, 2, 5, 10}));
}

TEST(Clause, R15_R17_maximum_wait_limits_the_sum_of_the_exponential_and_the_random_part) {
  const Scene scene = document(32s, 1h, Jitter::additive).attempts(9);
  EXPECT_EQ(starts_of(scene.rolling(LoadedDice::highest())), (Starts{0, 2, 5, 10, 19, 36, 68, 100, 132}));
}

TEST(Clause, R16_maximum_wait_is_configurable) {
  EXPECT_EQ(starts_of(document(2s, 1h, Jitter::none).attempts(5)), (Starts{0, 1, 3, 5, 7}));
}

TEST(Clause, R18_two_requests_draw_different_random_waits) {
  const Script script{status(503)};
  const Scene scene = document(64s, 600s, Jitter::additive);
  policy::SeededDice dice(1);
  const Played first = run(scene, script, dice);
  const Played second = run(scene, script, dice);
  ASSERT_GT(first.ledger.size(), 2U);
  EXPECT_NE(starts(first), starts(second));
  EXPECT_LE(second.ledger[0].verdict.delay, 2s);  // the exponent of the backoff starts at 0 again
}

TEST(Clause, R20_retries_end_at_the_first_limit_reached) {
  const Scene scene = document(64s, 10s, Jitter::none);
  EXPECT_EQ(starts_of(scene.attempts(3)), (Starts{0, 1, 3}));
  EXPECT_EQ(starts_of(scene.attempts(30)), (Starts{0, 1, 3, 7}));
}

TEST(Clause, R28_full_jitter_with_23_retries_takes_0_to_1083_seconds) {
  const Scene scene = document(60s, 1h, Jitter::full).attempts(24);
  const Starts slowest = starts_of(scene.rolling(LoadedDice::highest()));
  EXPECT_EQ(slowest.size(), 24U);
  EXPECT_EQ(slowest.back(), 1083);
  const Starts quickest = starts_of(scene.rolling(LoadedDice::lowest()));
  EXPECT_EQ(quickest, Starts(24, 0));
}

TEST(Clause, thousand_attempts_overflow_nothing) {
  const Scene scene = document(64s, 600s, Jitter::additive).no_deadline().attempts(1500);
  const Starts times = starts_of(scene);
  ASSERT_EQ(times.size(), 1500U);
  EXPECT_EQ(times.back() - times[1498], 64);
}

TEST(Clause, zero_initial_wait_stays_zero) {
  const Scene scene = get().no_budget().no_deadline().attempts(1500).backoff({0ms, 2, 8s, Jitter::full});
  EXPECT_EQ(starts_of(scene), Starts(1500, 0));
}

}  // namespace

std::vector<Story> limit_stories() {
  return joined({limits(), deadlines(), out_of_time(), hints(), aws_hints(), signatures(),
                 signatures_beside_other_rules()});
}

}  // namespace reprise::play
