// Tests stories of reused connections. The retry after the first stale connection of a request counts as an
// attempt, but is not charged to the budget. A second stale connection counts as a failure.
#include <gtest/gtest.h>

#include "tests/policy/stories.hpp"

namespace reprise::play {
namespace {

const Step stale = closed.reused();

class Connection : public testing::TestWithParam<Story> {};

TEST_P(Connection, scenario_has_the_expected_transcript) {
  EXPECT_EQ(play(GetParam().scene, GetParam().script), GetParam().transcript);
}

INSTANTIATE_TEST_SUITE_P(Stories, Connection, testing::ValuesIn(connection_stories()),
                         [](const auto& instance) { return instance.param.name; });

std::vector<Story> stale_ones() {
  return {
      {"stale_get",
       get(),
       {stale, status(200)},
       "attempt 1 reused -> await_head closed | again at once\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"stale_post_with_nothing_sent",
       post(),
       {fails(Stage::send, Cause::reset).reused().nothing_sent(), status(201)},
       "attempt 1 reused -> send reset | again at once\n"
       "attempt 2 -> 201 | deliver (success)\n"},
      {"stale_post_with_bytes_sent",
       post(),
       {stale},
       "attempt 1 reused -> await_head closed | fail (not_idempotent)\n"},
      {"stale_counts_as_an_attempt_and_is_not_charged_to_the_budget",
       get().attempts(3).budget(1),
       {stale, status(503), status(503)},
       "attempt 1 reused -> await_head closed | again at once\n"
       "attempt 2 -> 503 | sleep 250ms\n"
       "attempt 3 -> 503 | deliver (attempts_spent)\n"},
      {"stale_at_the_last_of_two_attempts_is_not_repeated",
       get().attempts(2),
       {status(503), stale},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 reused -> await_head closed | deliver 1 (attempts_spent)\n"},
      {"stale_before_the_last_of_two_attempts_is_repeated",
       get().attempts(2),
       {stale, status(503)},
       "attempt 1 reused -> await_head closed | again at once\n"
       "attempt 2 -> 503 | deliver (attempts_spent)\n"},
      {"stale_even_where_there_is_one_attempt_only",
       get().attempts(1),
       {stale, status(200)},
       "attempt 1 reused -> await_head closed | again at once\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"the_second_stale_one_goes_through_the_policy",
       get(),
       {status(503), stale, status(503), stale, status(200)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 reused -> await_head closed | again at once\n"
       "attempt 3 -> 503 | sleep 500ms\n"
       "attempt 4 reused -> await_head closed | sleep 1000ms\n"
       "attempt 5 -> 200 | deliver (success)\n"},
      {"the_second_stale_post_with_nothing_sent_is_an_ordinary_failure",
       post(),
       {fails(Stage::send, Cause::reset).reused().nothing_sent(), refused,
        fails(Stage::send, Cause::reset).reused().nothing_sent(), status(200)},
       "attempt 1 reused -> send reset | again at once\n"
       "attempt 2 -> connect refused | sleep 250ms\n"
       "attempt 3 reused -> send reset | sleep 500ms\n"
       "attempt 4 -> 200 | deliver (success)\n"},
  };
}

std::vector<Story> told_from_stale() {
  return {
      {"a_break_inside_the_head_is_not_stale",
       get(),
       {fails(Stage::head, Cause::closed).reused(), status(200)},
       "attempt 1 reused -> head closed | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"a_dead_host_is_not_stale",
       get(),
       {fails(Stage::await_head, Cause::keepalive_lost).reused(), status(200)},
       "attempt 1 reused -> await_head keepalive_lost | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"L4_a_connection_on_which_nothing_is_acknowledged_is_stale",
       get(),
       {fails(Stage::await_head, Cause::unacknowledged).reused().takes(2s), status(200)},
       "attempt 1 reused -> await_head unacknowledged | again at once\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"L4_a_second_one_is_a_failure_like_a_reset",
       get(),
       {fails(Stage::send, Cause::unacknowledged).reused(), status(503),
        fails(Stage::await_head, Cause::unacknowledged).reused(), status(200)},
       "attempt 1 reused -> send unacknowledged | again at once\n"
       "attempt 2 -> 503 | sleep 250ms\n"
       "attempt 3 reused -> await_head unacknowledged | sleep 500ms\n"
       "attempt 4 -> 200 | deliver (success)\n"},
      {"L4_a_post_on_which_nothing_is_acknowledged_is_not_repeated",
       post(),
       {fails(Stage::await_head, Cause::unacknowledged).reused()},
       "attempt 1 reused -> await_head unacknowledged | fail (not_idempotent)\n"},
      {"a_fresh_connection_is_not_stale",
       get(),
       {closed, status(200)},
       "attempt 1 -> await_head closed | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"stale_but_no_longer_held",
       put(),
       {stale.not_held()},
       "attempt 1 reused -> await_head closed | fail (not_replayable)\n"},
  };
}

std::vector<Story> stale_beside_other_rules() {
  return {
      {"the_kept_response_survives_a_stale_retry",
       get().attempts(3),
       {status(503), stale, refused},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 reused -> await_head closed | again at once\n"
       "attempt 3 -> connect refused | deliver 1 (attempts_spent)\n"},
      {"a_stale_post_of_a_route_that_is_off",
       post().mode(policy::Mode::off),
       {fails(Stage::send, Cause::reset).reused().nothing_sent(), status(201)},
       "attempt 1 reused -> send reset | again at once\n"
       "attempt 2 -> 201 | deliver (success)\n"},
      {"N22_a_stale_get_of_a_route_that_is_off_is_repeated_once",
       get().mode(policy::Mode::off),
       {stale},
       "attempt 1 reused -> await_head closed | again at once\n"
       "attempt 2 -> await_head closed | fail (retries_off)\n"},
      {"N22_a_stale_get_of_a_route_that_observes_is_repeated_once",
       get().mode(policy::Mode::observe),
       {stale, status(200)},
       "attempt 1 reused -> await_head closed | again at once\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"stale_after_the_deadline_starts_nothing",
       get(),
       {stale.takes(61s)},
       "attempt 1 reused -> await_head closed | fail (deadline_too_near)\n"},
      {"stale_after_a_fin_starts_nothing",
       get(),
       {stale.attempt_sees(Interruption::fin)},
       "FIN during attempt 1 | noted\n"
       "attempt 1 reused -> await_head closed | fail (client_gone)\n"},
      {"stale_during_a_shutdown_starts_nothing",
       get(),
       {stale.attempt_sees(Interruption::shutdown)},
       "shutdown during attempt 1 | noted\n"
       "attempt 1 reused -> await_head closed | fail (shutting_down)\n"},
  };
}

std::vector<Story> misdirected() {
  return {
      {"misdirected_on_a_reused_connection",
       get(),
       {status(421).reused(), status(200)},
       "attempt 1 reused -> 421 | again at once\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"misdirected_post",
       post(),
       {status(421).reused(), status(201)},
       "attempt 1 reused -> 421 | again at once\n"
       "attempt 2 -> 201 | deliver (success)\n"},
      {"misdirected_without_the_body",
       post(),
       {status(421).reused().not_held()},
       "attempt 1 reused -> 421 | deliver (not_retryable)\n"},
      {"misdirected_twice",
       get(),
       {status(421).reused()},
       "attempt 1 reused -> 421 | again at once\n"
       "attempt 2 -> 421 | deliver (not_retryable)\n"},
      {"misdirected_on_a_fresh_connection",
       get(),
       {status(421)},
       "attempt 1 -> 421 | deliver (not_retryable)\n"},
      {"misdirected_and_then_gone",
       get().attempts(1),
       {status(421).reused(), refused},
       "attempt 1 reused -> 421 | again at once\n"
       "attempt 2 -> connect refused | fail (attempts_spent)\n"},
  };
}

}  // namespace

std::vector<Story> connection_stories() {
  return joined({stale_ones(), told_from_stale(), stale_beside_other_rules(), misdirected()});
}

}  // namespace reprise::play
