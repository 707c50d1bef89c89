#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/tools/simulate/replay_log.hpp"
#include "tests/simulate/worlds.hpp"

namespace reprise::tools {
namespace {

/// Returns an attempt as it appears in a log line.
std::string responded(int n, int status, double wait = 0, double ms = 10) {
  return R"({"n":)" + std::to_string(n) + R"(,"status":)" + std::to_string(status) + R"(,"ms":)" +
         std::to_string(ms) + R"(,"wait_ms":)" + std::to_string(wait) +
         R"(,"reason":"success","reused":false})";
}

std::string failed(int n, const std::string& stage, const std::string& error) {
  return R"({"n":)" + std::to_string(n) + R"(,"stage":")" + stage + R"(","error":")" + error +
         R"(","ms":5.000,"wait_ms":0.000,"reason":"not_retryable","reused":false})";
}

/// Returns the log line of a request that took 10 ms. `at`: time of the line, in milliseconds after 10:00.
std::string line(int at, const std::string& attempts, const std::string& status = "200",
                 const std::string& more = R"("ending":"complete","reason":"success")",
                 const std::string& method = "GET") {
  char time[40];
  std::snprintf(time, sizeof time, "2026-01-02T10:00:%02d.%03dZ", at / 1000, at % 1000);
  return R"({"time":")" + std::string(time) + R"(","level":"info","route":"default","method":")" + method +
         R"(","host":"a.example","port":80,"path":"/x","status":)" + status + "," + more +
         R"(,"attempts":[)" + attempts + R"(],"request_bytes":0,"response_bytes":0,"ms":10.000})" + "\n";
}

std::variant<ReplayLog, LogFault> read(const std::string& text, bool lenient = false) {
  static const Subject one = subject(policy::RoutePolicy{});
  std::istringstream stream(text);
  return read_log(stream, {&one.routes}, lenient);
}

ReplayLog good(const std::string& text, bool lenient = false) {
  auto read_anew = read(text, lenient);
  if (const auto* fault = std::get_if<LogFault>(&read_anew)) {
    ADD_FAILURE() << fault->line << ": " << fault->why;
    return {};
  }
  return std::get<ReplayLog>(std::move(read_anew));
}

std::string fault(const std::string& text, bool lenient = false) {
  const auto read_anew = read(text, lenient);
  const auto* found = std::get_if<LogFault>(&read_anew);
  return found == nullptr ? std::string("none") : std::to_string(found->line) + ": " + found->why;
}

Measures played(const ReplayLog& log, policy::RoutePolicy policy, Beyond beyond) {
  RecordedWorld world(log, beyond);
  RunOptions options;
  options.duration = log.duration;
  return run(subject(std::move(policy)), world, options);
}

TEST(ReplayLog, access_log_of_the_proxy_is_readable) {
  std::ifstream file(REPRISE_SOURCE_DIR "/tests/golden/observe/access.jsonl");
  std::stringstream text;
  std::size_t lines = 0;
  for (std::string read_line_text; std::getline(file, read_line_text);) {
    if (!read_line_text.starts_with("{\"time\"")) continue;
    text << read_line_text << '\n';
    ++lines;
  }
  ASSERT_GT(lines, 5U);
  const ReplayLog log = good(text.str());
  EXPECT_EQ(log.lines, lines);
  EXPECT_EQ(log.requests.size() + log.other_lines + log.left_out, lines);
  EXPECT_GT(log.requests.size(), 3U);
}

TEST(ReplayLog, log_that_uses_the_old_word_answered_for_complete_responses_can_be_read) {
  const ReplayLog log =
      good(line(1000, responded(1, 200), "200", R"("ending":"answered","reason":"success")"));
  ASSERT_EQ(log.requests.size(), 1U);
  EXPECT_EQ(as_logged(log).succeeded, 1U);
}

TEST(ReplayLog, requests_are_ordered_by_their_start) {
  const ReplayLog log =
      good(line(2000, responded(1, 200)) + line(1000, responded(1, 503) + "," + responded(2, 200, 90)) +
           "\n" + line(3000, responded(1, 404), "404", R"("ending":"complete","reason":"not_retryable")"));
  ASSERT_EQ(log.requests.size(), 3U);
  EXPECT_EQ(log.requests[0].attempts, 2);
  EXPECT_EQ(log.requests[1].at, 1'000'000'000);
  EXPECT_EQ(log.kinds.size(), 1U);
  const Measures was = as_logged(log);
  EXPECT_EQ(was.requests, 3U);
  EXPECT_EQ(was.succeeded, 3U);
  EXPECT_EQ(was.attempts, 4U);
  EXPECT_EQ(was.retries, 1U);
}

TEST(ReplayLog, another_policy_is_evaluated_on_the_logged_attempts) {
  const std::string text =
      line(1000, responded(1, 503) + "," + responded(2, 503, 50) + "," + responded(3, 200, 90)) +
      line(2000, responded(1, 503), "503", R"("ending":"complete","reason":"retries_off")");
  const ReplayLog log = good(text);
  const Measures once = played(log, plain(1), Beyond::repeat);
  EXPECT_EQ(once.succeeded, 0U);
  EXPECT_EQ(once.assumed, 0U);
  EXPECT_EQ(once.decided_by_log, 2U);
  const Measures low = played(log, plain(6), Beyond::repeat);
  EXPECT_EQ(low.succeeded, 1U);
  EXPECT_EQ(low.decided_by_log, 1U);
  EXPECT_EQ(low.assumed, 5U);
  EXPECT_EQ(low.attempts, 9U);
  const Measures high = played(log, plain(6), Beyond::recover);
  EXPECT_EQ(high.succeeded, 2U);
  EXPECT_EQ(high.assumed, 1U);
  EXPECT_EQ(high.attempts, 5U);
}

TEST(ReplayLog, timed_out_attempt_takes_as_long_as_the_policy_waits) {
  const ReplayLog log =
      good(line(1000, failed(1, "await_head", "attempt_timeout") + "," + responded(2, 200)));
  policy::RoutePolicy policy = plain(2);
  policy.retry.attempt_timeout = milliseconds(300);
  const Measures measures = played(log, policy, Beyond::repeat);
  EXPECT_EQ(measures.succeeded, 1U);
  EXPECT_GE(measures.latency.mean(), milliseconds(320));
}

TEST(ReplayLog, requests_with_too_little_information_are_skipped_and_counted) {
  const std::string gone = R"("ending":"client_gone","reason":"client_gone")";
  const std::string cut = R"("ending":"cut","reason":"response_started")";
  const std::string resumed = R"("ending":"complete","reason":"success")";
  const ReplayLog log =
      good(line(1, responded(1, 200)) + line(2, responded(1, 503), "null", gone) +
           line(3, failed(1, "body", "truncated"), "200", cut) +
           line(4, failed(1, "body", "truncated") + "," + responded(2, 206), "200", resumed) +
           line(5, "", "400", R"("ending":"complete","reason":"not_retryable")") +
           line(6, "", "503", R"("ending":"complete","reason":"circuit_open")") +
           "{\"time\":\"2026-01-02T10:00:00.000Z\",\"level\":\"info\",\"message\":\"listening\"}\n");
  EXPECT_EQ(log.requests.size(), 2U);
  EXPECT_EQ(log.left_out, 3U);
  EXPECT_EQ(log.other_lines, 2U);
  // The log has no attempts of the request that an open circuit rejected. The replay therefore assumes how
  // the upstream responds to this request.
  const Measures low = played(log, plain(2), Beyond::repeat);
  EXPECT_EQ(low.succeeded, 1U);
  EXPECT_EQ(low.assumed, 2U);
  EXPECT_EQ(played(log, plain(2), Beyond::recover).succeeded, 2U);
}

TEST(ReplayLog, attempts_after_a_gap_in_the_logged_attempts_are_treated_as_unknown) {
  const std::string gap = line(1, responded(1, 503) + "," + responded(33, 200), "200");
  const ReplayLog log = good(gap);
  EXPECT_EQ(log.requests[0].attempts, 1);
  EXPECT_TRUE(log.requests[0].gap);
  EXPECT_EQ(played(log, plain(2), Beyond::repeat).assumed, 1U);
}

TEST(ReplayLog, logged_requests_that_no_configuration_can_distinguish_form_one_group) {
  const ReplayLog log =
      good(line(1, responded(1, 200)) +
           line(2, responded(1, 200), "200", R"("ending":"complete","reason":"success")", "POST") +
           line(3, responded(1, 200)));
  EXPECT_EQ(log.kinds.size(), 2U);
  EXPECT_EQ(log.requests[0].kind, log.requests[2].kind);
}

TEST(ReplayLog, incomplete_last_line_is_skipped_and_other_incomplete_lines_fail) {
  const std::string whole = line(1, responded(1, 200));
  const ReplayLog log = good(whole + whole.substr(0, 90));
  EXPECT_TRUE(log.half_line);
  EXPECT_EQ(log.requests.size(), 1U);
  EXPECT_EQ(fault(whole + whole.substr(0, 90) + "\n" + whole),
            "2: the line is incomplete (--lenient skips such lines)");
  EXPECT_EQ(good(whole + whole.substr(0, 90) + "\n" + whole, true).bad_lines, 1U);
  // A line is complete without a line end, and with CRLF.
  EXPECT_EQ(good(whole.substr(0, whole.size() - 1)).requests.size(), 1U);
  EXPECT_EQ(good(whole.substr(0, whole.size() - 1) + "\r\n").requests.size(), 1U);
}

TEST(ReplayLog, input_that_is_no_access_log_of_reprise_is_reported) {
  const std::string whole = line(1, responded(1, 200));
  EXPECT_EQ(fault("127.0.0.1 - - [10/Oct/2000] \"GET /\" 200 12\n").substr(0, 30),
            "1: the line is not JSON: write");
  EXPECT_EQ(fault(whole + "{\"a\":1}\n").substr(0, 54),
            "2: the line is JSON, but does not come from reprise: -");
  EXPECT_EQ(fault("[1]\n").substr(0, 44), "1: the line is JSON, but does not come from ");
  EXPECT_EQ(fault("{]\n").substr(0, 24), "1: the line is not JSON:");
  EXPECT_NE(fault("\x1f\x8b\x08stuff\n").find("zcat FILE | reprise"), std::string::npos);
  EXPECT_EQ(fault("").substr(0, 28), "0: the log has no request: -");
  EXPECT_EQ(fault(std::string(3 * longest_line, 'x') + "\n" + whole).substr(0, 32),
            "1: the line is longer than 1 MiB");
  EXPECT_EQ(fault(whole + std::string(2 * longest_line, '{')).substr(0, 32),
            "2: the line is longer than 1 MiB");
  EXPECT_EQ(good(std::string(3 * longest_line, 'x') + "\n" + whole, true).bad_lines, 1U);
}

TEST(ReplayLog, log_of_another_version_is_reported) {
  const std::string whole =
      line(1, failed(1, "connect", "refused"), "502", R"("ending":"complete","reason":"attempts_spent")");
  const auto changed = [&](const std::string& what, const std::string& to) {
    std::string text = whole;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return fault(text.replace(at, what.size(), to));
  };
  for (const auto& [what, to] :
       {std::pair{"\"refused\"", "\"warped\""}, std::pair{"\"connect\"", "\"warped\""},
        std::pair{"\"attempts_spent\"", "\"warped\""}, std::pair{"\"complete\"", "\"warped\""}}) {
    EXPECT_NE(changed(what, to).find(
                  "\"warped\", which this version does not know: the log comes from another version"),
              std::string::npos)
        << what;
  }
  EXPECT_EQ(changed("\"host\":\"a.example\"", "\"hast\":1").substr(0, 26), "1: the line has no \"host\" ");
  EXPECT_EQ(changed("\"method\":\"GET\"", "\"method\":7").substr(0, 27), "1: \"method\" is not a string");
  EXPECT_EQ(changed("\"port\":80", "\"port\":70000").substr(0, 23), "1: \"port\" is not a numb");
  EXPECT_EQ(changed("\"ms\":10.000", "\"ms\":-1").substr(0, 21), "1: \"ms\" is not a numb");
  EXPECT_EQ(changed("\"attempts\":[{", "\"attempts\":[7,{").substr(0, 14), "1: \"attempts\" ");
  EXPECT_EQ(changed("\"time\":\"2026-01", "\"time\":\"2026-13").substr(0, 29),
            "1: \"time\" is not a valid date");
  EXPECT_EQ(changed("\"time\":\"2026-01", "\"time\":\"2026x01").substr(0, 13), "1: \"time\" is ");
  EXPECT_EQ(changed("T10:00", "T1x:00").substr(0, 28), "1: \"time\" is not a valid tim");
  EXPECT_EQ(fault(std::string(5000, '[') + "\n").substr(0, 24), "1: the line is not JSON:");
}

TEST(ReplayLog, log_must_not_span_more_than_a_year) {
  std::string late = line(1, responded(1, 200));
  late.replace(late.find("2026"), 4, "2028");
  EXPECT_EQ(fault(line(1, responded(1, 200)) + late).substr(0, 44),
            "0: the log spans more than a year: check tha");
  late.replace(late.find("2028"), 4, "9999");
  EXPECT_EQ(fault(late).substr(0, 29), "1: \"time\" is not a valid date");
}

TEST(ReplayLog, logged_refusal_to_retry_is_respected) {
  std::string text = line(1, responded(1, 503), "503", R"("ending":"complete","reason":"upstream_said_no")");
  const std::size_t at = text.find(R"("reason":"success")");
  text.replace(at, 18, R"("reason":"upstream_said_no")");
  const Measures measures = played(good(text), plain(6), Beyond::recover);
  EXPECT_EQ(measures.attempts, 1U);
  EXPECT_EQ(ended(measures, policy::Reason::upstream_said_no), 1U);
}

/// Returns an attempt of a gRPC call that ended with the status before its first message.
std::string ended_call(int n, const std::string& status) {
  std::string attempt = responded(n, 200);
  return attempt.insert(attempt.find(",\"ms\""), R"(,"grpc":")" + status + '"');
}

std::string call_line(int at, const std::string& attempts, const std::string& grpc) {
  return line(at, attempts, "200", R"("ending":"complete","reason":"success","grpc":)" + grpc, "POST");
}

TEST(ReplayLog, M111_statuses_of_calls_are_read) {
  const std::string call = R"({"service":"shop.Catalog","method":"GetItem","status":"unavailable"})";
  const ReplayLog log =
      good(call_line(0, ended_call(1, "unavailable") + "," + ended_call(2, "of_tomorrow"), call) +
           call_line(10, responded(1, 200), R"({"status":"ok"})"));
  ASSERT_EQ(log.requests.size(), 2U);
  EXPECT_FALSE(log.requests[0].good) << "the HTTP status is 200, but the call failed";
  EXPECT_TRUE(log.requests[1].good);
  ASSERT_EQ(log.kinds.size(), 1U);
  EXPECT_TRUE(log.kinds.front().call);
  const auto grpc_of = [&](std::size_t attempt) {
    return std::get<policy::Responded>(log.outcomes[log.attempts[attempt].outcome]).grpc;
  };
  EXPECT_EQ(grpc_of(0), policy::GrpcStatus::unavailable);
  EXPECT_EQ(grpc_of(1), policy::GrpcStatus::unknown) << "a word of a later version";
  EXPECT_EQ(grpc_of(2), std::nullopt);
}

TEST(ReplayLog, M111_logs_without_grpc_fields_or_with_other_types_are_read) {
  for (const char* other : {"null", "7", R"("x")", R"({"status":14})", R"({"service":1,"method":[]})"})
    EXPECT_EQ(good(call_line(0, responded(1, 200), other)).requests.size(), 1U) << other;
}

TEST(ReplayLog, M111_calls_and_other_requests_are_of_different_kinds) {
  const ReplayLog log =
      good(call_line(0, responded(1, 200), "{}") +
           line(5, responded(1, 200), "200", R"("ending":"complete","reason":"success")", "POST"));
  EXPECT_EQ(log.kinds.size(), 2U);
}

TEST(ReplayLog, M111_failed_calls_are_retried_in_a_replay) {
  const ReplayLog log = good(call_line(0, ended_call(1, "unavailable"), R"({"status":"unavailable"})"));
  policy::RoutePolicy policy = plain(3);
  policy.idempotent.kind = policy::IdempotencyRule::Kind::always;
  const Measures measures = played(log, policy, Beyond::recover);
  EXPECT_EQ(measures.attempts, 2U);
  EXPECT_EQ(measures.succeeded, 1U);
}

}  // namespace
}  // namespace reprise::tools
