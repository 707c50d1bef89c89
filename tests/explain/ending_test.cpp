// Tests what `explain` says about the end of a request: attempts that nothing ends, circuits that open, and
// responses that are not delivered.
#include <gtest/gtest.h>

#include "proxy/tools/explain/explain_report.hpp"
#include "proxy/tools/explain/explain_report_json.hpp"
#include "tests/explain/one_route.hpp"

namespace reprise::tools::ending_test {
namespace {

using namespace policy;
using namespace std::chrono_literals;

/// Returns the explanation as text, followed by the explanation as JSON.
std::string printed(const RoutePolicy& policy, const Question& question) {
  const RouteTable routes = only(policy);
  ExplainReport report;
  report.routes = &routes;
  report.question = question;
  report.explanation = explain(routes, question);
  return to_text(report) + to_json(report);
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Explanation, attempt_hangs_if_no_timer_bounds_the_wait_for_its_response) {
  Question question = question_about("GET");
  question.outcome = Failed{Stage::await_head, Cause::attempt_timeout};
  const auto hangs = [&](const RoutePolicy& policy) { return explain(only(policy), question).hangs; };
  RoutePolicy policy;
  EXPECT_TRUE(hangs(policy)) << "the deadline does not end the wait";
  EXPECT_TRUE(explain(only(policy), question).waits.empty());
  policy.response_timeout = 90s;
  EXPECT_FALSE(hangs(policy));
  EXPECT_EQ(explain(only(policy), question).lowest.last_ended, 90s);
  policy.response_timeout = no_limit;
  policy.retry.attempt_timeout = 2s;
  EXPECT_FALSE(hangs(policy));
  question.request.method = "POST";
  EXPECT_TRUE(hangs(policy)) << "attempt_timeout ends only an attempt that may be repeated";
  question.outcome = Failed{Stage::send, Cause::attempt_timeout};
  EXPECT_FALSE(hangs(policy)) << "the deadline ends an upload that makes no progress";
  question.outcome = Responded{503, {}};
  EXPECT_FALSE(hangs(policy));
}

TEST(Explanation, L20_failed_attempts_of_the_request_open_the_circuit) {
  Question question = question_about("GET");
  RoutePolicy policy;
  policy.circuit = CircuitPolicy{0.5, 10s, 3, 5s};
  const Explanation explanation = explain(only(policy), question);
  EXPECT_EQ(explanation.highest.last.number, 3U);
  EXPECT_EQ(explanation.highest.last_verdict.reason, Reason::circuit_open);
  EXPECT_TRUE(std::holds_alternative<Deliver>(explanation.highest.end));
  EXPECT_EQ(explanation.waits.size(), 2U);
  policy.circuit->requests = 20;
  EXPECT_EQ(explain(only(policy), question).highest.last_verdict.reason, Reason::attempts_spent);
  policy.circuit->requests = 1;
  policy.mode = Mode::observe;
  EXPECT_EQ(explain(only(policy), question).highest.last_verdict.reason, Reason::observe_only)
      << "an observed route has no circuit";
}

TEST(ExplainReport, attempt_that_hangs_has_no_verdict) {
  Question question = question_about("GET");
  question.outcome = Failed{Stage::await_head, Cause::attempt_timeout};
  question.first.number = question.first.charged = 2;
  RoutePolicy policy;
  const std::string text = printed(policy, question);
  EXPECT_TRUE(says(text, "ends        nothing ends attempt 2: the route sets neither attempt_timeout nor"));
  EXPECT_TRUE(says(text, "it does not end an attempt that waits for its response"));
  EXPECT_TRUE(says(text, "client gets nothing before the upstream or the client ends attempt 2"));
  EXPECT_TRUE(says(text, R"({"first":null,"last_attempt":2,"ended_ms":null,"endless":true,"last":null})"));
  EXPECT_FALSE(says(text, "deadline_too_near"));
  EXPECT_FALSE(says(text, "504"));
  question.request.method = "POST";
  policy.retry.attempt_timeout = 2s;
  EXPECT_TRUE(says(printed(policy, question), "its attempt_timeout does not end an attempt that cannot be"));
}

TEST(ExplainReport, J8_407_is_not_delivered) {
  Question question = question_about("GET");
  question.outcome = Responded{407, {}};
  RoutePolicy policy;
  EXPECT_TRUE(
      says(printed(policy, question),
           "client gets 502 from reprise, with Reprise-Reason: not_retryable; a 407 is never delivered"));
  policy.response_headers = ResponseHeaders::none;
  EXPECT_TRUE(says(printed(policy, question), "client gets 502 from reprise; a 407 is never delivered"));
}

}  // namespace
}  // namespace reprise::tools::ending_test
