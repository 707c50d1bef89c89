// Tests stories of gRPC calls: which of their statuses are retried, when, and what the client gets (rows M73
// to M90).
#include <gtest/gtest.h>

#include "tests/policy/stories.hpp"

namespace reprise::play {
namespace {

using policy::GrpcStatus;

const Step unavailable = ends_call(GrpcStatus::unavailable);
const Step internal = ends_call(GrpcStatus::internal);
const Step unknown = ends_call(GrpcStatus::unknown);
const Step good = ends_call(GrpcStatus::ok);

// A call on a route that calls it idempotent by a rule, because a POST is not idempotent by its method.
Scene call() {
  return post().idempotent(Idempotency::yes).with([](auto& p, auto&) {
    p.idempotent.kind = policy::IdempotencyRule::Kind::always;
  });
}

Scene listing(const Scene& scene, GrpcStatus status) {
  return scene.with([&](auto& p, auto&) { p.retry.on.calls.set(static_cast<std::size_t>(status)); });
}

class Grpc : public testing::TestWithParam<Story> {};

TEST_P(Grpc, scenario_has_the_expected_transcript) {
  EXPECT_EQ(play(GetParam().scene, GetParam().script), GetParam().transcript);
}

INSTANTIATE_TEST_SUITE_P(Stories, Grpc, testing::ValuesIn(grpc_stories()),
                         [](const auto& instance) { return instance.param.name; });

std::vector<Story> statuses() {
  return {
      {"M74_listed_status_is_retried",
       call(),
       {unavailable, unavailable, good},
       "attempt 1 -> 200 grpc unavailable | sleep 250ms\n"
       "attempt 2 -> 200 grpc unavailable | sleep 500ms\n"
       "attempt 3 -> 200 grpc ok | deliver (success)\n"},
      {"M74_listed_status_of_a_call_that_is_not_repeatable_is_delivered",
       post(),
       {unavailable},
       "attempt 1 -> 200 grpc unavailable | deliver (not_idempotent)\n"},
      {"M74_unlisted_status_is_delivered",
       call(),
       {internal},
       "attempt 1 -> 200 grpc internal | deliver (not_retryable)\n"},
      {"M74_unlisted_status_is_retried_once_it_is_listed",
       listing(call(), GrpcStatus::internal),
       {internal, good},
       "attempt 1 -> 200 grpc internal | sleep 250ms\n"
       "attempt 2 -> 200 grpc ok | deliver (success)\n"},
      {"M74_missing_status_is_judged_as_unknown",
       call(),
       {unknown},
       "attempt 1 -> 200 grpc unknown | deliver (not_retryable)\n"},
      {"M74_missing_status_is_retried_if_unknown_is_listed",
       listing(call(), GrpcStatus::unknown),
       {unknown, good},
       "attempt 1 -> 200 grpc unknown | sleep 250ms\n"
       "attempt 2 -> 200 grpc ok | deliver (success)\n"},
      {"M74_http_status_other_than_200_is_judged_by_that_status",
       call(),
       {ends_call(GrpcStatus::internal, 503), good},
       "attempt 1 -> 503 grpc internal | sleep 250ms\n"
       "attempt 2 -> 200 grpc ok | deliver (success)\n"},
      {"M74_unlisted_http_status_with_a_listed_status_of_the_call_is_retried",
       call(),
       {ends_call(GrpcStatus::unavailable, 404), good},
       "attempt 1 -> 404 grpc unavailable | sleep 250ms\n"
       "attempt 2 -> 200 grpc ok | deliver (success)\n"},
      {"M74_unlisted_http_status_with_an_unlisted_status_is_delivered",
       call(),
       {ends_call(GrpcStatus::internal, 404)},
       "attempt 1 -> 404 grpc internal | deliver (not_retryable)\n"},
      {"M75_response_with_a_message_is_delivered",
       call(),
       {status(200)},
       "attempt 1 -> 200 | deliver (success)\n"},
      {"M79_last_status_is_delivered_when_attempts_are_spent",
       call().attempts(2),
       {unavailable},
       "attempt 1 -> 200 grpc unavailable | sleep 250ms\n"
       "attempt 2 -> 200 grpc unavailable | deliver (attempts_spent)\n"},
      {"M79_kept_status_is_delivered_after_a_lost_connection",
       call().attempts(2),
       {unavailable, reset},
       "attempt 1 -> 200 grpc unavailable | sleep 250ms\n"
       "attempt 2 -> await_head reset | deliver 1 (attempts_spent)\n"},
      {"M85_retry_after_a_status_needs_budget",
       call().budget(1),
       {unavailable},
       "attempt 1 -> 200 grpc unavailable | sleep 250ms\n"
       "attempt 2 -> 200 grpc unavailable | deliver (budget_spent)\n"},
  };
}

std::vector<Story> pushbacks() {
  return {
      {"M76_pushback_that_is_longer_than_the_backoff_is_the_wait",
       call(),
       {unavailable.retry_after(3s), good},
       "attempt 1 -> 200 grpc unavailable Retry-After 3000ms | sleep 3000ms\n"
       "attempt 2 -> 200 grpc ok | deliver (success)\n"},
      {"M76_pushback_that_is_shorter_than_the_backoff_does_not_shorten_it",
       call(),
       {unavailable.retry_after(10ms), good},
       "attempt 1 -> 200 grpc unavailable Retry-After 10ms | sleep 250ms\n"
       "attempt 2 -> 200 grpc ok | deliver (success)\n"},
      {"M76_negative_or_malformed_pushback_ends_the_retries",
       call(),
       {unavailable.says_no()},
       "attempt 1 -> 200 grpc unavailable said no | deliver (upstream_said_no)\n"},
      {"M76_pushback_above_the_maximum_ends_the_retries",
       call(),
       {unavailable.retry_after(61s)},
       "attempt 1 -> 200 grpc unavailable Retry-After 61000ms | deliver (upstream_said_later)\n"},
      {"M76_pushback_above_the_rest_of_the_call_ends_the_retries",
       call().call_deadline(epoch + 2s),
       {unavailable.retry_after(3s)},
       "attempt 1 -> 200 grpc unavailable Retry-After 3000ms | deliver (upstream_said_later)\n"},
      {"M76_pushback_does_not_make_an_unlisted_status_retryable",
       call(),
       {ends_call(GrpcStatus::resource_exhausted).retry_after(1s)},
       "attempt 1 -> 200 grpc resource_exhausted Retry-After 1000ms | deliver (not_retryable)\n"},
  };
}

std::vector<Story> deadlines() {
  return {
      {"M87_deadline_of_the_call_is_the_earlier_one",
       call().call_deadline(epoch + 600ms),
       {unavailable.takes(100ms)},
       "attempt 1 -> 200 grpc unavailable | sleep 250ms\n"
       "attempt 2 -> 200 grpc unavailable | deliver (deadline_too_near)\n"},
      {"M87_deadline_of_the_route_is_the_earlier_one",
       call().deadline(600ms).call_deadline(epoch + 1h),
       {unavailable.takes(100ms)},
       "attempt 1 -> 200 grpc unavailable | sleep 250ms\n"
       "attempt 2 -> 200 grpc unavailable | deliver (deadline_too_near)\n"},
      {"M87_deadline_of_the_call_holds_on_a_route_without_one",
       call().no_deadline().call_deadline(epoch + 600ms),
       {unavailable.takes(100ms)},
       "attempt 1 -> 200 grpc unavailable | sleep 250ms\n"
       "attempt 2 -> 200 grpc unavailable | deliver (deadline_too_near)\n"},
      {"M88_call_without_a_deadline_has_the_deadline_of_the_route",
       call().deadline(200ms),
       {unavailable},
       "attempt 1 -> 200 grpc unavailable | deliver (deadline_too_near)\n"},
  };
}

std::vector<Story> ambiguous_ones() {
  std::vector<Story> stories;
  for (const GrpcStatus status : {GrpcStatus::not_found, GrpcStatus::already_exists,
                                  GrpcStatus::failed_precondition, GrpcStatus::aborted}) {
    const std::string word(policy::word(status));
    stories.push_back({"M90_" + word + "_after_a_lost_attempt_is_ambiguous",
                       call(),
                       {reset, ends_call(status)},
                       "attempt 1 -> await_head reset | sleep 250ms\n"
                       "attempt 2 -> 200 grpc " +
                           word + " | deliver (not_retryable) ambiguous\n"});
  }
  return joined({stories,
                 {{"M90_other_status_after_a_lost_attempt_is_not_ambiguous",
                   call(),
                   {reset, ends_call(GrpcStatus::permission_denied)},
                   "attempt 1 -> await_head reset | sleep 250ms\n"
                   "attempt 2 -> 200 grpc permission_denied | deliver (not_retryable)\n"},
                  {"M90_status_is_not_ambiguous_if_no_earlier_attempt_was_sent",
                   call(),
                   {refused, ends_call(GrpcStatus::already_exists)},
                   "attempt 1 -> connect refused | sleep 250ms\n"
                   "attempt 2 -> 200 grpc already_exists | deliver (not_retryable)\n"},
                  {"M90_status_of_the_first_attempt_is_not_ambiguous",
                   call(),
                   {ends_call(GrpcStatus::already_exists)},
                   "attempt 1 -> 200 grpc already_exists | deliver (not_retryable)\n"}}});
}

}  // namespace

std::vector<Story> grpc_stories() { return joined({statuses(), pushbacks(), deadlines(), ambiguous_ones()}); }

}  // namespace reprise::play
