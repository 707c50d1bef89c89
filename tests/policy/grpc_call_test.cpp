// Tests the rules for single gRPC calls outside of stories: hedges, circuits, time limits, the wait for a
// status.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "proxy/policy/decision/hold.hpp"
#include "proxy/policy/decision/host_account.hpp"
#include "proxy/policy/decision/route.hpp"
#include "tests/support/script.hpp"

namespace reprise::policy::grpc_call_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant epoch{std::chrono::hours(1)};

Responded ended(GrpcStatus status, int code = 200) {
  Responded response{code, {}};
  response.grpc = status;
  return response;
}

TEST(GrpcCall, M73_call_failed_if_its_status_is_not_ok) {
  EXPECT_FALSE(is_failed_call({200, {}})) << "no call, or a call whose first message has come";
  EXPECT_FALSE(is_failed_call(ended(GrpcStatus::ok)));
  for (std::size_t i = 1; i < grpc_status_count; ++i)
    EXPECT_TRUE(is_failed_call(ended(static_cast<GrpcStatus>(i)))) << i;
}

TEST(GrpcCall, M74_each_status_is_listed_only_by_its_own_word) {
  for (std::size_t listed = 0; listed < grpc_status_count; ++listed) {
    RetryOn on;
    on.calls.set(listed);
    for (std::size_t i = 0; i < grpc_status_count; ++i)
      EXPECT_EQ(on.lists(ended(static_cast<GrpcStatus>(i))), i == listed) << i;
    EXPECT_FALSE(on.lists(Responded{200, {}}));
    EXPECT_FALSE(on.lists(Failed{Stage::await_head, Cause::reset}));
  }
}

TEST(GrpcCall, M74_only_unavailable_is_listed_by_default) {
  for (std::size_t i = 0; i < grpc_status_count; ++i) {
    const auto status = static_cast<GrpcStatus>(i);
    EXPECT_EQ(RetryOn::defaults().lists(ended(status)), status == GrpcStatus::unavailable) << word(status);
  }
}

TEST(GrpcCall, each_status_has_the_word_of_its_enumerator) {
  EXPECT_EQ(word(GrpcStatus::ok), "ok");
  EXPECT_EQ(word(GrpcStatus::resource_exhausted), "resource_exhausted");
  EXPECT_EQ(static_cast<int>(GrpcStatus::unavailable), 14);
  EXPECT_EQ(static_cast<int>(GrpcStatus::unauthenticated), 16);
  EXPECT_EQ(grpc_status_of("data_loss"), GrpcStatus::data_loss);
  EXPECT_FALSE(grpc_status_of("DATA_LOSS"));
  EXPECT_FALSE(grpc_status_of(""));
}

TEST(GrpcCall, M108_attempt_is_labelled_grpc_if_only_the_status_of_the_call_is_bad) {
  EXPECT_EQ(outcome_label(ended(GrpcStatus::unavailable)), "grpc");
  EXPECT_EQ(outcome_label(ended(GrpcStatus::ok)), "2xx");
  EXPECT_EQ(outcome_label(ended(GrpcStatus::unavailable, 503)), "5xx");
  EXPECT_EQ(outcome_label(Responded{200, {}}), "2xx");
}

TEST(GrpcCall, M72_head_waits_for_a_status_only_once_the_request_is_complete) {
  RoutePolicy policy;
  EXPECT_EQ(peek_time(policy, true), 50ms);
  EXPECT_EQ(peek_time(policy, false), 0ms);
  policy.hold = HoldPolicy{};
  policy.hold->time = 700ms;
  EXPECT_EQ(peek_time(policy, true), 700ms);
  EXPECT_EQ(peek_time(policy, false), 0ms);
}

RoutePolicy limited() {
  RoutePolicy route;
  route.response_timeout = 5s;
  route.idle_timeout = 6s;
  route.retry.attempt_timeout = 7s;
  return route;
}

TEST(GrpcCall, M89_limits_of_a_route_do_not_apply_to_its_calls) {
  const RoutePolicy calls = policy_of_calls(limited());
  EXPECT_EQ(calls.response_timeout, no_limit);
  EXPECT_EQ(calls.idle_timeout, no_limit);
  EXPECT_FALSE(calls.retry.attempt_timeout);
  EXPECT_EQ(calls.retry.max_attempts, limited().retry.max_attempts) << "all else stays";
  EXPECT_EQ(calls.retry.deadline, limited().retry.deadline);
}

TEST(GrpcCall, M89_limits_that_the_route_sets_itself_apply_to_its_calls) {
  RoutePolicy route = limited();
  route.of_calls = {5s, 6s, 7s};
  const RoutePolicy calls = policy_of_calls(route);
  EXPECT_EQ(calls.response_timeout, 5s);
  EXPECT_EQ(calls.idle_timeout, 6s);
  EXPECT_EQ(calls.retry.attempt_timeout, Duration(7s));
}

TEST(GrpcCall, M91_responses_to_calls_are_not_resumed) {
  const RoutePolicy route;
  EXPECT_TRUE(route.resume.enabled);
  EXPECT_FALSE(policy_of_calls(route).resume.enabled);
}

TEST(GrpcCall, M89_table_of_routes_has_a_policy_for_calls_beside_that_of_other_requests) {
  Route route;
  route.policy = limited();
  const RouteTable table({}, route);
  RequestView request;
  EXPECT_EQ(table.policy_for(0, request).response_timeout, 5s);
  request.is_call = true;
  EXPECT_EQ(table.policy_for(0, request).response_timeout, no_limit);
}

AttemptReport of(unsigned number) { return {false, Sent::maybe, true, Idempotency::yes, number}; }

// A call whose hedge starts 200 ms after its first attempt.
struct HedgedCall : testing::Test {
  HedgedCall() {
    policy.hedge = HedgePolicy{200ms};
    policy.retry.backoff = {1ms, 2, 1ms, Jitter::none};
    exchange.emplace(policy, Facts{Idempotency::yes}, HostShare{}, epoch);
    std::ignore = exchange->begin(epoch, dice);
    std::ignore = exchange->hedge_due(of(1), epoch + 200ms);
  }

  Actions responded(unsigned number, const Responded& response) {
    return exchange->responded(of(number), response, epoch + 1s, dice);
  }
  static unsigned delivered(const Actions& actions) {
    for (const Action& action : actions) {
      if (const auto* deliver = std::get_if<Deliver>(&action)) return deliver->number;
    }
    return 0;
  }

  RoutePolicy policy;
  play::LoadedDice dice = play::LoadedDice::highest();
  std::optional<Exchange> exchange;
};

TEST_F(HedgedCall, M84_listed_status_of_one_copy_does_not_end_the_other) {
  EXPECT_EQ(responded(1, ended(GrpcStatus::unavailable)).size(), 0U);
  EXPECT_EQ(delivered(responded(2, ended(GrpcStatus::ok))), 2U);
  EXPECT_EQ(exchange->ledger().hedge, HedgeOutcome::won);
}

TEST_F(HedgedCall, M84_status_ok_ends_the_race) {
  const Actions actions = responded(2, ended(GrpcStatus::ok));
  EXPECT_EQ(delivered(actions), 2U);
  EXPECT_TRUE(std::any_of(actions.begin(), actions.end(), [](const Action& action) {
    const auto* cancel = std::get_if<Cancel>(&action);
    return cancel != nullptr && cancel->number == 1;
  }));
}

TEST_F(HedgedCall, M84_first_message_ends_the_race) { EXPECT_EQ(delivered(responded(1, {200, {}})), 1U); }

TEST_F(HedgedCall, M84_unlisted_status_ends_the_race_because_the_other_copy_would_get_it_too) {
  EXPECT_EQ(delivered(responded(1, ended(GrpcStatus::invalid_argument))), 1U);
}

TEST_F(HedgedCall, M84_pushback_of_one_copy_holds_for_both) {
  Responded pushed = ended(GrpcStatus::unavailable);
  pushed.hints.retry_after = 5s;
  EXPECT_EQ(responded(2, pushed).size(), 0U);
  const Actions actions = responded(1, ended(GrpcStatus::unavailable));
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(std::get<Wait>(actions[0]).until, epoch + 6s);
}

// Returns true if two attempts with that outcome open a circuit of two attempts.
bool opens_circuit(const RoutePolicy& policy, const Responded& response) {
  Circuit circuit{CircuitPolicy{0.5, 10s, 2, 5s}};
  HostAccount account({nullptr, &circuit, nullptr}, policy);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(circuit.admit(epoch));
    account.report(response, {false, {}, Reason::not_idempotent}, epoch, epoch);
  }
  return !circuit.admit(epoch);
}

TEST(GrpcCircuit, M85_only_statuses_that_the_route_lists_count_as_failures) {
  RoutePolicy policy;
  EXPECT_TRUE(opens_circuit(policy, ended(GrpcStatus::unavailable)));
  EXPECT_FALSE(opens_circuit(policy, ended(GrpcStatus::internal)));
  EXPECT_FALSE(opens_circuit(policy, ended(GrpcStatus::not_found)));
  EXPECT_FALSE(opens_circuit(policy, ended(GrpcStatus::ok)));
  EXPECT_TRUE(opens_circuit(policy, ended(GrpcStatus::internal, 503))) << "by its HTTP status";
  policy.retry.on.calls.reset();
  EXPECT_FALSE(opens_circuit(policy, ended(GrpcStatus::unavailable)));
}

TEST(GrpcPause, M85_pushback_pauses_the_host) {
  RoutePolicy policy;
  policy.while_paused = WhilePaused::wait;
  HostPause pause;
  HostAccount account({nullptr, nullptr, &pause}, policy);
  Responded pushed = ended(GrpcStatus::unavailable);
  pushed.hints.retry_after = 5s;
  account.report(pushed, {true, 5s, Reason::retryable_status}, epoch, epoch);
  EXPECT_EQ(pause.end(), epoch + 5s);
}

}  // namespace
}  // namespace reprise::policy::grpc_call_test
