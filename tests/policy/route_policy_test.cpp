// Tests `retry.on`: which outcomes a route lists, for every stage and every cause.
#include "proxy/policy/decision/route_policy.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace reprise::policy {
namespace {

Responded response(int status) { return {status, {}}; }

TEST(RetryOn, default_statuses_are_retryable) {
  const RetryOn on = RetryOn::defaults();
  const std::set<int> listed{408, 429, 500, 502, 503, 504};
  for (int status = 200; status <= highest_status; ++status) {
    EXPECT_EQ(on.lists(response(status)), listed.contains(status)) << status;
  }
}

TEST(RetryOn, empty_list_retries_nothing) {
  for (int status = 200; status <= highest_status; ++status) EXPECT_FALSE(RetryOn{}.lists(response(status)));
  EXPECT_FALSE(RetryOn{}.lists(Failed{Stage::connect, Cause::refused}));
}

TEST(RetryOn, statuses_below_0_or_above_999_never_match_retry_on) {
  RetryOn on;
  on.statuses.set();
  EXPECT_FALSE(on.lists(response(1000)));
  EXPECT_FALSE(on.lists(response(-1)));
  EXPECT_TRUE(on.lists(response(999)));
}

TEST(RetryOn, L16_permanent_refusal_by_a_parent_proxy_is_not_retried) {
  const RetryOn on = RetryOn::defaults();
  for (const int status : {300, 302, 400, 401, 403, 404, 407, 451, 499})
    EXPECT_FALSE(on.lists(Failed{Stage::connect, Cause::parent_refused, status})) << status;
  for (const int status : {0, 101, 408, 429, 500, 502, 503, 504, 599})
    EXPECT_TRUE(on.lists(Failed{Stage::connect, Cause::parent_refused, status})) << status;
  EXPECT_FALSE(RetryOn{}.lists(Failed{Stage::connect, Cause::parent_refused, 503}));
}

/// Returns the word of `retry.on` that lists this failure; empty if no word does. `unprocessed`: the upstream
/// reported that it did nothing.
std::string needed(Stage stage, Cause cause, bool unprocessed = false) {
  if (unprocessed) return "connect";
  switch (cause) {
    case Cause::cancelled:
    case Cause::replay_lost:
    case Cause::address_denied:
    case Cause::address_is_self:
    case Cause::tls_certificate_error:
    case Cause::tls_alert_received:
    case Cause::malformed_response:
    case Cause::header_too_large: return "";
    case Cause::response_timeout:
    case Cause::attempt_timeout: return "timeout";
    default: break;
  }
  if (stage == Stage::tls) return "tls";
  if (stage == Stage::body) return "truncated";
  return stage < Stage::tls ? "connect" : "reset";
}

TEST(RetryOn, every_failure_is_covered_by_exactly_one_word_of_retry_on) {
  for (std::uint8_t s = 0; s < stage_count; ++s) {
    for (std::uint8_t c = 0; c < cause_count; ++c) {
      for (const bool unprocessed : {false, true}) {
        Failed failed{static_cast<Stage>(s), static_cast<Cause>(c)};
        failed.unprocessed = unprocessed;
        const std::string wanted = needed(failed.stage, failed.cause, unprocessed);
        for (const FailureWord& each : failure_words) {
          RetryOn on;
          on.*each.listed = true;
          EXPECT_EQ(on.lists(failed), each.text == wanted)
              << word(failed.stage) << ' ' << word(failed.cause) << ' ' << each.text << ' ' << unprocessed;
        }
      }
    }
  }
}

TEST(RefusedStream, M68_M69_only_some_causes_prove_that_the_upstream_did_nothing) {
  for (std::uint8_t c = 0; c < cause_count; ++c) {
    const auto cause = static_cast<Cause>(c);
    const bool always = cause == Cause::goaway || cause == Cause::http_1_1_required;
    EXPECT_EQ(proves_unprocessed(cause, RefusedStream::doubt), always) << word(cause);
    EXPECT_EQ(proves_unprocessed(cause, RefusedStream::trust), always || cause == Cause::stream_refused)
        << word(cause);
  }
}

TEST(ResetCode, M70_only_a_stream_that_was_reset_has_a_code) {
  Failed failed{Stage::await_head, Cause::stream_reset};
  EXPECT_EQ(reset_code(failed), "");
  failed.why = "cancel";
  EXPECT_EQ(reset_code(failed), "cancel");
  failed.cause = Cause::tls_alert_received;
  EXPECT_EQ(reset_code(failed), "");
}

TEST(RetryOn, each_word_of_retry_on_matches_only_its_own_failure) {
  for (const FailureWord& of : failure_words) {
    EXPECT_FALSE(of.sentence.empty()) << of.text;
    for (const FailureWord& each : failure_words) {
      RetryOn on;
      on.*each.listed = true;
      EXPECT_EQ(on.lists(of.example), each.text == of.text) << of.text << ' ' << each.text;
    }
  }
}

TEST(RetryOn, default_retry_on_lists_all_failures_except_truncation) {
  const RetryOn on = RetryOn::defaults();
  EXPECT_TRUE(on.connect && on.tls && on.reset && on.timeout);
  EXPECT_FALSE(on.truncated);
}

TEST(RoutePolicy, defaults_match_the_reference) {
  using namespace std::chrono_literals;
  const RoutePolicy policy;
  EXPECT_EQ(policy.mode, Mode::active);
  EXPECT_EQ(policy.idempotent.kind, IdempotencyRule::Kind::by_method);
  EXPECT_EQ(policy.retry.max_attempts, 6U);
  EXPECT_EQ(policy.retry.deadline, Duration(60s));
  EXPECT_FALSE(policy.retry.attempt_timeout);
  EXPECT_EQ(policy.retry.out_of_time, OutOfTime::last);
  EXPECT_EQ(policy.retry.backoff.initial, Duration(250ms));
  EXPECT_EQ(policy.retry.backoff.multiplier, 2);
  EXPECT_EQ(policy.retry.backoff.maximum, Duration(8s));
  EXPECT_EQ(policy.retry.backoff.jitter, Jitter::equal);
  EXPECT_TRUE(policy.retry.retry_after.honour);
  EXPECT_EQ(policy.retry.retry_after.maximum, Duration(60s));
  EXPECT_EQ(policy.retry.nested, Nested::allow);
  EXPECT_EQ(policy.connect_timeout, Duration(5s));
  EXPECT_EQ(policy.response_timeout, no_limit);
  EXPECT_EQ(policy.idle_timeout, no_limit);
  EXPECT_EQ(policy.budget, (BudgetPolicy{0.2, 10, 10s}));
}

TEST(RetryOn, every_kind_of_failure_has_a_word) { EXPECT_EQ(failure_words.size(), count_failure_kinds()); }

}  // namespace
}  // namespace reprise::policy
