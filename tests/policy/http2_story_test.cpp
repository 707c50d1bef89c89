// Tests stories of HTTP/2 streams that the upstream refused, reset or excluded by GOAWAY (rows M29 and M68 to
// M70).
#include <gtest/gtest.h>

#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/decision/gates.hpp"
#include "tests/policy/stories.hpp"

namespace reprise::play {
namespace {

const Step refused_stream = fails(Stage::await_head, Cause::stream_refused).unprocessed();
const Step goaway = fails(Stage::await_head, Cause::goaway).unprocessed();
const Step doubtful = fails(Stage::await_head, Cause::stream_refused);
const Step reset_stream = fails(Stage::await_head, Cause::stream_reset);

class Http2 : public testing::TestWithParam<Story> {};

TEST_P(Http2, scenario_has_the_expected_transcript) {
  EXPECT_EQ(play(GetParam().scene, GetParam().script), GetParam().transcript);
}

INSTANTIATE_TEST_SUITE_P(Stories, Http2, testing::ValuesIn(http2_stories()),
                         [](const auto& instance) { return instance.param.name; });

std::vector<Story> unprocessed_ones() {
  return {
      {"M68_post_that_a_goaway_excludes_is_sent_again_at_once",
       post(),
       {goaway, status(201)},
       "attempt 1 -> await_head goaway | again at once\n"
       "attempt 2 -> 201 | deliver (success)\n"},
      {"M68_second_goaway_waits_for_the_backoff",
       post(),
       {goaway.reused(), goaway, status(201)},
       "attempt 1 reused -> await_head goaway | again at once\n"
       "attempt 2 -> await_head goaway | sleep 250ms\n"
       "attempt 3 -> 201 | deliver (success)\n"},
      {"M69_refused_stream_of_a_post_is_sent_again_at_once",
       post(),
       {refused_stream, status(201)},
       "attempt 1 -> await_head stream_refused | again at once\n"
       "attempt 2 -> 201 | deliver (success)\n"},
      {"M69_retry_after_a_second_refused_stream_needs_budget",
       post().budget(0),
       {refused_stream},
       "attempt 1 -> await_head stream_refused | again at once\n"
       "attempt 2 -> await_head stream_refused | fail (budget_spent)\n"},
      {"M69_retry_that_is_refused_too_gives_its_budget_back",
       post().budget(1).attempts(4),
       {refused_stream},
       "attempt 1 -> await_head stream_refused | again at once\n"
       "attempt 2 -> await_head stream_refused | sleep 250ms\n"
       "attempt 3 -> await_head stream_refused | sleep 500ms\n"
       "attempt 4 -> await_head stream_refused | fail (attempts_spent)\n"},
      {"M69_refused_streams_end_at_max_attempts",
       post().attempts(3),
       {refused_stream},
       "attempt 1 -> await_head stream_refused | again at once\n"
       "attempt 2 -> await_head stream_refused | sleep 250ms\n"
       "attempt 3 -> await_head stream_refused | fail (attempts_spent)\n"},
      {"M69_second_refused_stream_is_not_sent_again_if_connect_is_not_listed",
       post().with([](auto& p, auto&) { p.retry.on.connect = false; }),
       {refused_stream},
       "attempt 1 -> await_head stream_refused | again at once\n"
       "attempt 2 -> await_head stream_refused | fail (not_retryable)\n"},
      {"M68_goaway_and_a_stale_connection_share_one_immediate_retry",
       get(),
       {closed.reused(), goaway, status(200)},
       "attempt 1 reused -> await_head closed | again at once\n"
       "attempt 2 -> await_head goaway | sleep 250ms\n"
       "attempt 3 -> 200 | deliver (success)\n"},
      {"M68_goaway_is_repeated_once_on_a_route_that_is_off",
       post().mode(policy::Mode::off),
       {goaway},
       "attempt 1 -> await_head goaway | again at once\n"
       "attempt 2 -> await_head goaway | fail (retries_off)\n"},
      {"M69_refused_stream_whose_body_is_not_held_is_not_sent_again",
       post(),
       {refused_stream.not_held()},
       "attempt 1 -> await_head stream_refused | fail (not_replayable)\n"},
      {"M29_http_1_1_required_is_sent_again_at_once",
       post(),
       {fails(Stage::await_head, Cause::http_1_1_required).unprocessed(), status(201)},
       "attempt 1 -> await_head http_1_1_required | again at once\n"
       "attempt 2 -> 201 | deliver (success)\n"},
      {"M25_goaway_before_the_settings_is_sent_again_at_once",
       post(),
       {fails(Stage::connect, Cause::goaway).unprocessed(), status(201)},
       "attempt 1 -> connect goaway | again at once\n"
       "attempt 2 -> 201 | deliver (success)\n"},
  };
}

std::vector<Story> maybe_processed() {
  return {
      {"M69_refused_stream_of_a_post_under_doubt_is_not_sent_again",
       post(),
       {doubtful},
       "attempt 1 -> await_head stream_refused | fail (not_idempotent)\n"},
      {"M69_refused_stream_of_a_get_under_doubt_is_a_reset",
       get(),
       {doubtful, status(200)},
       "attempt 1 -> await_head stream_refused | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"M70_stream_reset_of_a_get_waits_for_the_backoff_even_on_a_reused_connection",
       get(),
       {reset_stream.reused(), status(200)},
       "attempt 1 reused -> await_head stream_reset | sleep 250ms\n"
       "attempt 2 -> 200 | deliver (success)\n"},
      {"M70_stream_reset_of_a_post_is_not_sent_again",
       post(),
       {reset_stream},
       "attempt 1 -> await_head stream_reset | fail (not_idempotent)\n"},
      {"M70_stream_reset_is_not_sent_again_if_reset_is_not_listed",
       get().with([](auto& p, auto&) { p.retry.on.reset = false; }),
       {reset_stream},
       "attempt 1 -> await_head stream_reset | fail (not_retryable)\n"},
      {"M23_upstream_without_http2_is_a_failure_of_the_handshake",
       get().attempts(2),
       {fails(Stage::tls, Cause::not_http2)},
       "attempt 1 -> tls not_http2 | sleep 250ms\n"
       "attempt 2 -> tls not_http2 | fail (attempts_spent)\n"},
  };
}

TEST(Http2Entry, M107_ledger_keeps_what_the_attempt_reported_about_http2) {
  policy::RoutePolicy policy;
  policy::Exchange exchange(policy, {Idempotency::yes}, nullptr, epoch);
  LoadedDice dice = LoadedDice::lowest();
  static_cast<void>(exchange.begin(epoch, dice));
  policy::AttemptReport report{false, Sent::maybe, true, Idempotency::yes};
  report.http2 = true;
  report.queued = 20ms;
  static_cast<void>(exchange.responded(report, {200, {}}, epoch + 1s, dice));
  EXPECT_TRUE(exchange.ledger()[0].http2);
  EXPECT_EQ(exchange.ledger()[0].queued, 20ms);
}

TEST(Http2Body, M68_M69_body_of_any_method_is_held_if_it_is_sent_over_http2) {
  policy::RoutePolicy policy;
  const policy::Facts unrepeatable;
  EXPECT_EQ(policy::disk_share(unrepeatable, policy), 0U);
  EXPECT_EQ(policy::disk_share(unrepeatable, policy, true), policy.replay_disk_bytes);
  EXPECT_FALSE(policy::repeats_after_refusal(policy, false));
  EXPECT_TRUE(policy::repeats_after_refusal(policy, true));
  policy.mode = policy::Mode::off;
  EXPECT_FALSE(policy::repeats_after_refusal(policy, true));
  EXPECT_EQ(policy::disk_share(unrepeatable, policy, true), 0U);
}

}  // namespace

std::vector<Story> http2_stories() { return joined({unprocessed_ones(), maybe_processed()}); }

}  // namespace reprise::play
