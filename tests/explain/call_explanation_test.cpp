// Tests what `explain` says about gRPC calls: which policy and which deadline apply, and what the client
// gets.
#include <gtest/gtest.h>

#include "proxy/tools/explain/advice.hpp"
#include "proxy/tools/explain/explain_report.hpp"
#include "proxy/tools/explain/explain_report_json.hpp"
#include "proxy/tools/explain/explanation.hpp"

namespace reprise::tools {
namespace call_explanation_test {
namespace {

using namespace policy;
using namespace std::chrono_literals;

RoutePolicy repeatable() {
  RoutePolicy policy;
  policy.idempotent.kind = IdempotencyRule::Kind::always;
  policy.retry.backoff.jitter = Jitter::none;
  return policy;
}

Route route_of(std::string name, const RoutePolicy& policy) {
  Route route;
  route.name = std::move(name);
  route.policy = policy;
  return route;
}

Question call(GrpcStatus status = GrpcStatus::unavailable) {
  Question question;
  question.request = {"POST", "catalog.internal", 50051, "/shop.Catalog/GetItem", "", nullptr};
  question.request.is_call = true;
  question.http2 = true;
  Responded ended{200, {}};
  ended.grpc = status;
  question.outcome = ended;
  question.first.sent = Sent::maybe;
  return question;
}

/// An explanation with the table that it refers to.
struct Told {
  explicit Told(const RoutePolicy& policy, const Question& question)
      : routes({}, route_of("default", policy)) {
    report.method = "POST";
    report.routes = &routes;
    report.question = question;
    report.explanation = explain(routes, question);
  }

  const Explanation& explanation() const { return report.explanation; }
  Reason reason() const { return explanation().highest.last_verdict.reason; }
  bool says(std::string_view words) const { return to_text(report).find(words) != std::string::npos; }

  RouteTable routes;
  ExplainReport report;
};

TEST(Explanation, M110_listed_status_of_a_call_is_retried) {
  const Told told(repeatable(), call());
  EXPECT_EQ(told.explanation().lowest.first_verdict.reason, Reason::retryable_status);
  EXPECT_EQ(told.reason(), Reason::attempts_spent);
  EXPECT_TRUE(told.says("gRPC call   shop.Catalog/GetItem"));
  EXPECT_TRUE(told.says("client gets the upstream's last response, 200 with grpc-status 14 (unavailable)"));
}

TEST(Explanation, M110_advice_names_the_word_of_an_unlisted_status) {
  const Told told(repeatable(), call(GrpcStatus::resource_exhausted));
  EXPECT_EQ(told.reason(), Reason::not_retryable);
  EXPECT_TRUE(told.says("`grpc-resource_exhausted`"));
}

TEST(Explanation, M110_advice_names_the_method_if_no_rule_calls_it_idempotent) {
  const Told told({}, call());
  EXPECT_EQ(told.reason(), Reason::not_idempotent);
  EXPECT_TRUE(told.says("`match: {grpc: [shop.Catalog/GetItem]}`"));
}

TEST(Explanation, M110_call_is_never_retried_after_its_first_message) {
  Question question = call();
  question.outcome = Responded{200, {}};
  question.late_status = GrpcStatus::unavailable;
  const Told late(repeatable(), question);
  EXPECT_TRUE(late.explanation().waits.empty());
  EXPECT_TRUE(late.says("then grpc-status 14 (unavailable), unchanged"));
  EXPECT_TRUE(late.says("never retried after the first message"));

  RoutePolicy holds = repeatable();
  holds.hold.emplace().bytes = 1024;
  question.late_status.reset();
  for (const Cause cause : {Cause::stream_reset, Cause::closed}) {
    question.outcome = Failed{Stage::body, cause};
    const Told broken(holds, question);
    EXPECT_EQ(broken.reason(), Reason::response_started);
    EXPECT_TRUE(broken.says(cause == Cause::closed ? "if a message has just ended" : "code of the upstream"));
  }
}

TEST(Explanation, M110_earlier_deadline_ends_the_call) {
  Question question = call();
  RoutePolicy policy = repeatable();
  policy.retry.deadline = 1s;
  question.facts.call_deadline = Instant{} + 300ms;
  const Told own(policy, question);
  EXPECT_EQ(own.explanation().deadline, Duration(300ms));
  EXPECT_EQ(own.reason(), Reason::deadline_too_near);
  EXPECT_TRUE(own.says("300ms from the request head (the call's own, grpc-timeout; the route's is 1s)"));
  EXPECT_TRUE(own.says("Let the client give the call more time"));

  question.facts.call_deadline = Instant{} + 2s;
  const Told of_route(policy, question);
  EXPECT_EQ(of_route.explanation().deadline, Duration(1s));
  EXPECT_TRUE(of_route.says("1s from the request head (the route's; the call's own, grpc-timeout, is 2s)"));
  EXPECT_TRUE(of_route.says("Raise `retry.deadline`"));

  policy.retry.deadline.reset();
  EXPECT_TRUE(Told(policy, question)
                  .says("2s from the request head (the call's own, grpc-timeout; the route has none)"));
}

TEST(Explanation, M110_waits_are_bounded_by_the_deadline_of_the_call) {
  Question question = call();
  RoutePolicy policy = repeatable();
  policy.retry.backoff.jitter = Jitter::equal;
  question.facts.call_deadline = Instant{} + 200ms;
  const Told told(policy, question);
  ASSERT_EQ(told.explanation().waits.size(), 1U);
  EXPECT_EQ(told.explanation().waits.front().highest, Duration(200ms));
}

TEST(Explanation, M110_timeouts_apply_to_calls_only_if_the_route_sets_them) {
  RoutePolicy policy = repeatable();
  policy.retry.attempt_timeout = 1s;
  EXPECT_TRUE(Told(policy, call()).says("response    as long as the upstream takes"));
  policy.of_calls.attempt_timeout = 1s;
  EXPECT_TRUE(Told(policy, call()).says("response    1s from the last request byte"));
}

TEST(Explanation, M110_own_response_to_a_call_has_the_status_of_its_deadline) {
  Question question = call();
  RoutePolicy policy = repeatable();
  policy.of_calls.attempt_timeout = 1s;
  question.outcome = Failed{Stage::await_head, Cause::attempt_timeout};
  EXPECT_TRUE(Told(policy, question).says("client gets 200 with grpc-status 14 (unavailable) from reprise"));
  question.facts.call_deadline = Instant{} + 500ms;
  EXPECT_TRUE(
      Told(policy, question).says("client gets 200 with grpc-status 4 (deadline_exceeded) from reprise"));
  policy.retry.deadline = 400ms;
  EXPECT_TRUE(Told(policy, question).says("client gets 200 with grpc-status 14 (unavailable)"))
      << "the route's deadline, not the call's";
  question.facts.call_deadline.reset();
  question.outcome = Failed{Stage::connect, Cause::address_denied};
  EXPECT_TRUE(Told(policy, question).says("grpc-status 7 (permission_denied)"));
  question.outcome = Failed{Stage::connect, Cause::address_is_self};
  EXPECT_TRUE(Told(policy, question).says("grpc-status 13 (internal)"));
}

TEST(Explanation, J8_call_whose_upstream_sends_407_gets_a_status_from_reprise) {
  Question question = call();
  question.outcome = Responded{407, {}};
  EXPECT_TRUE(
      Told(repeatable(), question).says("client gets 200 with grpc-status 14 (unavailable) from reprise"));
}

TEST(Explanation, M110_deadline_of_a_call_does_not_end_the_wait_for_its_response) {
  Question question = call();
  question.outcome = Failed{Stage::await_head, Cause::attempt_timeout};
  question.facts.call_deadline = Instant{} + 500ms;
  const Told told(repeatable(), question);
  EXPECT_TRUE(told.says("it does not end an attempt that waits for its response"));
  EXPECT_TRUE(told.says("client gets nothing before the upstream or the client ends attempt 1"));
}

TEST(Explanation, M110_call_that_gets_no_http2_has_advice_of_its_own) {
  Question question = call();
  question.outcome = Failed{Stage::connect, Cause::not_http2};
  RoutePolicy policy = repeatable();
  EXPECT_TRUE(Told(policy, question).says("needs an upstream that speaks HTTP/2"));
  policy.http2 = UseHttp2::never;
  EXPECT_TRUE(
      Told(policy, question).says("Give the route `http2: auto`: a gRPC call is never sent over HTTP/1.1."));
  EXPECT_TRUE(Told(policy, question).says("http2       never: a gRPC call fails"));
}

TEST(Explanation, M110_head_of_a_repeatable_call_waits_for_its_next_frame) {
  RoutePolicy policy = repeatable();
  EXPECT_TRUE(Told(policy, call()).says("held back   the response head, for up to 50ms,"));
  policy.hold.emplace().time = 300ms;
  EXPECT_TRUE(Told(policy, call()).says("held back   the response head, for up to 300ms,"));
  EXPECT_FALSE(Told({}, call()).says("held back"));
}

TEST(Explanation, M110_routes_of_other_methods_are_not_matched_by_grpc) {
  Route other = route_of("orders", {});
  other.match.grpc.push_back(*GrpcPattern::parse("shop.Orders/*"));
  const RouteTable routes({other}, route_of("default", repeatable()));
  ExplainReport report;
  report.routes = &routes;
  report.question = call();
  report.explanation = explain(routes, report.question);
  EXPECT_NE(to_text(report).find("not matched by grpc: orders"), std::string::npos);
}

TEST(Explanation, M110_json_names_the_method_and_whose_deadline_it_is) {
  Question question = call();
  question.facts.call_deadline = Instant{} + 300ms;
  EXPECT_NE(to_json(Told(repeatable(), question).report)
                .find(R"("grpc":{"service":"shop.Catalog","method":"GetItem","deadline_of":"call"})"),
            std::string::npos);
  question.request.is_call = false;
  EXPECT_EQ(to_json(Told(repeatable(), question).report).find(R"("grpc":)"), std::string::npos);
}

}  // namespace
}  // namespace call_explanation_test
}  // namespace reprise::tools
