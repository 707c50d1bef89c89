// Tests which requests `explain` expects over HTTP/2, and what it says about streams that the upstream
// refuses.
#include <gtest/gtest.h>

#include "proxy/tools/explain/explain_report.hpp"
#include "proxy/tools/explain/explanation.hpp"
#include "tests/explain/one_route.hpp"

namespace reprise::tools {
namespace http2_explanation_test {
namespace {

using namespace policy;

/// Returns the limit of that name in the report; empty if the report has none.
std::string limit_in(std::string_view name, const RoutePolicy& policy, const Question& question) {
  const RouteTable routes = only(policy);
  ExplainReport report;
  report.routes = &routes;
  report.question = question;
  report.explanation = explain(routes, question);
  for (const ReportedLimit& limit : limits_of(report)) {
    if (limit.name == name) return limit.text;
  }
  return {};
}

bool has(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

TEST(Explanation, M110_request_uses_http2_if_route_and_request_allow) {
  RoutePolicy policy;
  Question question = question_about("GET");
  const auto uses_http2 = [&] { return explain(only(policy), question).http2; };
  EXPECT_FALSE(uses_http2());
  question.http2 = true;
  EXPECT_TRUE(uses_http2()) << "auto: as the client";
  policy.http2 = UseHttp2::never;
  EXPECT_FALSE(uses_http2());
  policy.http2 = UseHttp2::always;
  question.http2 = false;
  EXPECT_TRUE(uses_http2());
  for (bool Question::*const other : {&Question::tunnel, &Question::bound}) {
    question.*other = true;
    EXPECT_FALSE(uses_http2());
    question.*other = false;
  }
  question.facts.changes_protocol = true;
  EXPECT_FALSE(uses_http2());
}

TEST(Explanation, M69_refused_streams_are_retried_at_once_and_then_after_a_backoff) {
  Question question = question_about("GET");
  question.request.method = "POST";
  question.http2 = true;
  Failed refused{Stage::await_head, Cause::stream_refused};
  refused.unprocessed = true;
  question.outcome = refused;
  question.first.sent = Sent::nothing;
  const Explanation explanation = explain(only({}), question);
  EXPECT_EQ(explanation.lowest.first_verdict.reason, Reason::stale_connection);
  EXPECT_EQ(explanation.waits.front().highest, Duration::zero());
  EXPECT_GT(explanation.waits[1].lowest, Duration::zero());
  EXPECT_EQ(explanation.highest.last_verdict.reason, Reason::attempts_spent);
}

TEST(Explanation, M110_report_names_the_keys_http2_and_refused_stream_of_the_route) {
  RoutePolicy policy;
  Question question = question_about("GET");
  EXPECT_EQ(limit_in("http2", policy, question), "") << "HTTP/1 by default";
  question.http2 = true;
  EXPECT_TRUE(has(limit_in("http2", policy, question), "auto: "));
  policy.http2 = UseHttp2::always;
  EXPECT_TRUE(has(limit_in("http2", policy, question), "always: "));
  EXPECT_TRUE(has(limit_in("http2", policy, question), "refused_stream: trust"));
  EXPECT_TRUE(has(limit_in("connection", policy, question), "HTTP/2 connection"));
  policy.refused_stream = RefusedStream::doubt;
  EXPECT_TRUE(has(limit_in("http2", policy, question), "refused_stream: doubt"));
  question.bound = true;
  EXPECT_TRUE(has(limit_in("http2", policy, question), "HTTP/1.1 in spite of"));
  policy.http2 = UseHttp2::never;
  EXPECT_TRUE(has(limit_in("http2", policy, question), "never: "));
}

}  // namespace
}  // namespace http2_explanation_test
}  // namespace reprise::tools
