// Tests stories of plain retries: which requests are sent again, which are not, and what the client gets when
// every attempt fails.
#include <gtest/gtest.h>

#include "tests/policy/stories.hpp"

namespace reprise::play {
namespace {

std::vector<Story> responses() {
  return {
      {"get_503_503_200",
       get(),
       {status(503), status(503), status(200)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 503 | sleep 500ms\n"
       "attempt 3 -> 200 | deliver (success)\n"},
      {"refused_then_hint_then_success",
       get().rolling(LoadedDice::scripted({12'000'000, 250'000'000})),
       {refused, status(503).retry_after(1s), status(200)},
       "attempt 1 -> connect refused | sleep 137ms\n"
       "attempt 2 -> 503 Retry-After 1000ms | sleep 1000ms\n"
       "attempt 3 -> 200 | deliver (success)\n"},
      {"success_at_once", get(), {status(204)}, "attempt 1 -> 204 | deliver (success)\n"},
      {"a_redirect_is_a_success", get(), {status(308)}, "attempt 1 -> 308 | deliver (success)\n"},
      {"a_404_is_not_retryable", get(), {status(404)}, "attempt 1 -> 404 | deliver (not_retryable)\n"},
      {"a_listed_200_is_retried",
       get().with([](auto& p, auto&) { p.retry.on.statuses.set(202); }),
       {status(202), status(200)},
       "attempt 1 -> 202 | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"c6_a_final_response_ends_the_loop",
       get(),
       {status(503), status(400)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 400 | deliver (not_retryable)\n"},
      {"post_503_once", post(), {status(503)}, "attempt 1 -> 503 | deliver (not_idempotent)\n"},
      {"post_refused_is_retried",
       post(),
       {refused, status(201)},
       "attempt 1 -> connect refused | sleep 250ms\n"
       "attempt 2 -> 201 | deliver (success)\n"},
      {"c11_post_reset_is_not_retried",
       post(),
       {reset},
       "attempt 1 -> await_head reset | fail (not_idempotent)\n"},
      {"post_refused_then_503",
       post(),
       {refused, status(503)},
       "attempt 1 -> connect refused | sleep 250ms\n"
       "attempt 2 -> 503 | deliver (not_idempotent)\n"},
  };
}

std::vector<Story> failures() {
  return {
      {"tls_handshake_failure_is_retried_for_any_method",
       post(),
       {fails(Stage::tls, Cause::closed), status(200)},
       "attempt 1 -> tls closed | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"timeout_of_an_attempt_is_retried",
       get(),
       {timed_out.takes(2s), status(200)},
       "attempt 1 -> await_head attempt_timeout | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"response_timeout_is_a_timeout_where_the_request_may_be_repeated",
       get(),
       {fails(Stage::await_head, Cause::response_timeout), status(200)},
       "attempt 1 -> await_head response_timeout | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"response_timeout_is_final_where_it_may_not",
       post(),
       {fails(Stage::await_head, Cause::response_timeout)},
       "attempt 1 -> await_head response_timeout | fail (not_idempotent)\n"},
      {"response_timeout_is_final_without_the_body",
       put(),
       {fails(Stage::await_head, Cause::response_timeout).not_held()},
       "attempt 1 -> await_head response_timeout | fail (not_replayable)\n"},
      {"a_malformed_head_is_final",
       get(),
       {fails(Stage::head, Cause::malformed_response)},
       "attempt 1 -> head malformed_response | fail (not_retryable)\n"},
      {"every_address_is_denied",
       get(),
       {fails(Stage::resolve, Cause::address_denied)},
       "attempt 1 -> resolve address_denied | fail (address_denied)\n"},
      {"the_body_is_no_longer_held",
       put(),
       {status(503).not_held()},
       "attempt 1 -> 503 | deliver (not_replayable)\n"},
      {"D17_a_held_body_that_cannot_be_read_back",
       put(),
       {status(503), fails(Stage::send, Cause::replay_lost).not_held()},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> send replay_lost | deliver 1 (not_replayable)\n"},
  };
}

std::vector<Story> hints_and_conditions() {
  return {
      {"pushback_is_obeyed",
       get(),
       {status(503).says_no()},
       "attempt 1 -> 503 said no | deliver (upstream_said_no)\n"},
      {"a_json_condition_that_holds",
       post().idempotent(Idempotency::undecided),
       {status(503).judged_as(Idempotency::yes), status(200)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"a_json_condition_that_is_still_undecided",
       post().idempotent(Idempotency::undecided),
       {status(503)},
       "attempt 1 -> 503 | deliver (not_idempotent)\n"},
  };
}

std::vector<Story> last_responses() {
  return {
      {"the_kept_503_survives_two_resets",
       get().attempts(3),
       {status(503), reset, reset},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> await_head reset | sleep 500ms\n"
       "attempt 3 -> await_head reset | deliver 1 (attempts_spent)\n"},
      {"a_dropped_503_cannot_be_delivered",
       get().attempts(3),
       {status(503).response(Keeping::dropped), reset, reset},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> await_head reset | sleep 500ms\n"
       "attempt 3 -> await_head reset | fail (attempts_spent)\n"},
      {"a_response_still_being_read_is_not_kept",
       get().attempts(2),
       {status(503).response(Keeping::still_reading), reset},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> await_head reset | fail (attempts_spent)\n"},
      {"a_newer_response_replaces_the_kept_one",
       get().attempts(3),
       {status(500), status(502), refused},
       "attempt 1 -> 500 | sleep 250ms\n"
       "attempt 2 -> 502 | sleep 500ms\n"
       "attempt 3 -> connect refused | deliver 2 (attempts_spent)\n"},
      {"a_newer_response_that_is_dropped_takes_the_older_with_it",
       get().attempts(3),
       {status(500), status(502).response(Keeping::dropped), refused},
       "attempt 1 -> 500 | sleep 250ms\n"
       "attempt 2 -> 502 | sleep 500ms\n"
       "attempt 3 -> connect refused | fail (attempts_spent)\n"},
      {"the_last_response_is_never_dropped",
       get().attempts(2),
       {status(500), status(502).response(Keeping::dropped)},
       "attempt 1 -> 500 | sleep 250ms\n"
       "attempt 2 -> 502 | deliver (attempts_spent)\n"},
      {"the_body_breaks_after_the_head_is_out",
       get(),
       {status(200).body_breaks()},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | cut (response_started)\n"},
      {"a_held_body_that_ends_early_is_retried_where_listed",
       get().with([](auto& p, auto&) { p.retry.on.truncated = true; }),
       {fails(Stage::body, Cause::truncated), status(200)},
       "attempt 1 -> body truncated | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
  };
}

Scene by_rule() {
  return post().idempotent(Idempotency::yes).with([](auto& p, auto&) {
    p.idempotent.kind = policy::IdempotencyRule::Kind::any;
  });
}

Scene refusing(int code) {
  return post().with(
      [code](auto& p, auto&) { p.retry.refused.statuses.set(static_cast<std::size_t>(code)); });
}

std::vector<Story> refusals() {
  const Step refused_body = [] {
    Step step = status(200).body_listed();
    std::get<policy::Responded>(step.outcome).body_refused = true;
    return step;
  }();
  const auto one_time = [](auto&, auto& facts) { facts.one_time = true; };
  const auto upgrade = [](auto&, auto& facts) {
    facts.idempotent = Idempotency::no;
    facts.changes_protocol = true;
  };
  return {
      {"N18_a_post_is_sent_again_after_a_refused_status",
       refusing(429),
       {status(429), status(200)},
       "attempt 1 -> 429 | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"N18_a_refused_status_need_not_be_listed",
       refusing(420),
       {status(420), status(200)},
       "attempt 1 -> 420 | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"N18_a_refused_status_without_the_body_is_delivered",
       refusing(429),
       {status(429).not_held()},
       "attempt 1 -> 429 | deliver (not_replayable)\n"},
      {"N18_refused_permits_no_repeat_of_a_lost_response",
       refusing(429),
       {reset},
       "attempt 1 -> await_head reset | fail (not_idempotent)\n"},
      {"N18_refused_permits_no_repeat_after_another_status",
       refusing(429),
       {status(500)},
       "attempt 1 -> 500 | deliver (not_idempotent)\n"},
      {"N18_a_refused_body_is_like_a_refused_status",
       post(),
       {refused_body, status(200)},
       "attempt 1 -> 200 with a listed body | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"N17_one_time_credentials_are_not_sent_again_after_a_503",
       get().with(one_time),
       {status(503)},
       "attempt 1 -> 503 | deliver (signature_expired)\n"},
      {"N17_one_time_credentials_are_not_sent_again_after_a_lost_response",
       get().with(one_time),
       {reset.reused()},
       "attempt 1 reused -> await_head reset | fail (signature_expired)\n"},
      {"N17_one_time_credentials_are_sent_while_unsent",
       get().with(one_time),
       {refused, status(200)},
       "attempt 1 -> connect refused | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"N15_an_upgrade_is_not_repeated_after_a_lost_response",
       get().with(upgrade),
       {reset.reused()},
       "attempt 1 reused -> await_head reset | fail (not_idempotent)\n"},
      {"N15_an_upgrade_is_repeated_after_a_listed_503",
       get().with(upgrade),
       {status(503), status(101)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 101 | deliver (success)\n"},
      {"N15_an_upgrade_is_not_repeated_after_a_500",
       get().with(upgrade),
       {status(500)},
       "attempt 1 -> 500 | deliver (not_idempotent)\n"},
  };
}

std::vector<Story> ambiguous_ones() {
  return {
      {"ambiguous_412",
       by_rule(),
       {reset, status(412)},
       "attempt 1 -> await_head reset | sleep 250ms\n"
       "attempt 2 -> 412 | deliver (not_retryable) ambiguous\n"},
      {"ambiguous_409_even_after_a_503",
       by_rule(),
       {status(503), status(409)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 409 | deliver (not_retryable) ambiguous\n"},
      {"N16_a_404_of_a_delete_after_a_lost_response_stays_the_failure",
       put(),
       {reset, refused, status(404)},
       "attempt 1 -> await_head reset | sleep 250ms\n"
       "attempt 2 -> connect refused | sleep 500ms\n"
       "attempt 3 -> 404 | fail (ambiguous_outcome)\n"},
      {"N16_a_409_after_a_503_is_delivered_with_the_mark",
       put(),
       {status(503), status(409)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 409 | deliver (not_retryable) ambiguous\n"},
      {"N16_ambiguous_response_delivers_what_failure_would_not",
       put().with([](auto& p, auto&) { p.ambiguous = policy::Ambiguous::response; }),
       {reset, status(401)},
       "attempt 1 -> await_head reset | sleep 250ms\n"
       "attempt 2 -> 401 | deliver (not_retryable) ambiguous\n"},
      {"N16_ambiguous_failure_holds_for_a_rule_too",
       by_rule().with([](auto& p, auto&) { p.ambiguous = policy::Ambiguous::failure; }),
       {reset, status(422)},
       "attempt 1 -> await_head reset | sleep 250ms\n"
       "attempt 2 -> 422 | fail (ambiguous_outcome)\n"},
      {"N16_a_listed_status_is_not_retried_once_it_is_ambiguous",
       put().with([](auto& p, auto&) { p.retry.on.statuses.set(409); }),
       {reset, status(409)},
       "attempt 1 -> await_head reset | sleep 250ms\n"
       "attempt 2 -> 409 | fail (ambiguous_outcome)\n"},
      {"N16_a_create_only_put_is_not_repeated_after_a_lost_response",
       put().with([](auto&, auto& facts) { facts.create_only = true; }),
       {reset},
       "attempt 1 -> await_head reset | fail (not_idempotent)\n"},
      {"N16_a_create_only_put_is_not_stale_either",
       put().with([](auto&, auto& facts) { facts.create_only = true; }),
       {reset.reused()},
       "attempt 1 reused -> await_head reset | fail (not_idempotent)\n"},
      {"N16_a_create_only_put_is_repeated_after_a_503",
       put().with([](auto&, auto& facts) { facts.create_only = true; }),
       {status(503), status(201)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 201 | deliver (success)\n"},
      {"N16_a_rule_repeats_a_create_only_put",
       by_rule().with([](auto&, auto& facts) { facts.create_only = true; }),
       {reset, status(412)},
       "attempt 1 -> await_head reset | sleep 250ms\n"
       "attempt 2 -> 412 | deliver (not_retryable) ambiguous\n"},
      {"nothing_ambiguous_where_nothing_was_sent",
       post().idempotent(Idempotency::yes),
       {refused, status(412)},
       "attempt 1 -> connect refused | sleep 250ms\n"
       "attempt 2 -> 412 | deliver (not_retryable)\n"},
      {"nothing_ambiguous_for_a_get",
       get(),
       {reset, status(404)},
       "attempt 1 -> await_head reset | sleep 250ms\n"
       "attempt 2 -> 404 | deliver (not_retryable)\n"},
      {"nothing_ambiguous_about_a_400",
       put(),
       {reset, status(400)},
       "attempt 1 -> await_head reset | sleep 250ms\n"
       "attempt 2 -> 400 | deliver (not_retryable)\n"},
      {"nothing_ambiguous_at_attempt_1",
       put(),
       {status(409)},
       "attempt 1 -> 409 | deliver (not_retryable)\n"},
  };
}

std::vector<Story> modes() {
  return {
      {"observe_retries_nothing",
       get().mode(policy::Mode::observe).budget(3),
       {status(503)},
       "attempt 1 -> 503 | deliver (observe_only)\n"},
      {"observe_says_what_would_have_stopped_it",
       post().mode(policy::Mode::observe),
       {status(503)},
       "attempt 1 -> 503 | deliver (not_idempotent)\n"},
      {"observe_with_nothing_to_deliver",
       get().mode(policy::Mode::observe),
       {refused},
       "attempt 1 -> connect refused | fail (observe_only)\n"},
      {"off_retries_nothing",
       get().mode(policy::Mode::off),
       {status(503)},
       "attempt 1 -> 503 | deliver (retries_off)\n"},
      {"off_passes_success",
       get().mode(policy::Mode::off),
       {status(200)},
       "attempt 1 -> 200 | deliver (success)\n"},
      {"nested_is_refused",
       get().with([](auto& p, auto& f) {
         p.retry.nested = policy::Nested::refuse;
         f.nested = true;
       }),
       {status(503)},
       "attempt 1 -> 503 | deliver (nested_retry)\n"},
      {"nested_is_allowed_unless_told",
       get().with([](auto&, auto& f) { f.nested = true; }),
       {status(503), status(200)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"D20_what_another_reprise_has_retried_is_left_to_it",
       get(),
       {from_reprise(503), status(200)},
       "attempt 1 -> 503 from reprise | deliver (nested_retry)\n"},
      {"D20_unless_the_route_says_so",
       get().with([](auto& p, auto&) { p.retry.inner = policy::Nested::allow; }),
       {from_reprise(503), status(200)},
       "attempt 1 -> 503 from reprise | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"D20_failures_are_nobody_elses",
       get(),
       {fails(Stage::await_head, Cause::reset), from_reprise(200)},
       "attempt 1 -> await_head reset | sleep 250ms\n"
       "attempt 2 -> 200 from reprise | deliver (success)\n"},
      {"refuse_lets_first_tries_be",
       get().with([](auto& p, auto&) { p.retry.nested = policy::Nested::refuse; }),
       {status(503), status(200)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
  };
}

class Retry : public testing::TestWithParam<Story> {};

TEST_P(Retry, scenario_has_the_expected_transcript) {
  EXPECT_EQ(play(GetParam().scene, GetParam().script), GetParam().transcript);
}

INSTANTIATE_TEST_SUITE_P(Stories, Retry, testing::ValuesIn(retry_stories()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace

std::vector<Story> retry_stories() {
  return joined({responses(), failures(), hints_and_conditions(), last_responses(), refusals(),
                 ambiguous_ones(), modes()});
}

}  // namespace reprise::play
