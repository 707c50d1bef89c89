#include "proxy/tools/explain/request_report.hpp"

#include <gtest/gtest.h>

#include "proxy/telemetry/history/history_ring.hpp"
#include "tests/support/scripted_request.hpp"

namespace reprise::tools {
namespace {

using namespace telemetry;
using policy::Reason;

HistoryEntry told(const ScriptedRequest& scripted) {
  HistoryRing ring(64 * 1024);
  ExchangeRecord record = scripted.record();
  record.number = 1;
  ring.keep(record, true);
  HistoryEntry story = *ring.find(std::uint64_t{1});
  story.id = "k3x9q2-1";
  story.route_name = "api";
  return story;
}

bool has(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

TEST(StoryReport, report_shows_each_attempt_and_the_final_outcome) {
  ScriptedRequest request("two", "GET", "/x");
  request.attempt(failure(policy::Stage::connect, policy::Cause::refused), 1,
                  retry_in(milliseconds(200), Reason::retryable_failure));
  request.attempt(status(429, std::chrono::seconds(90)), 5, stop(Reason::upstream_said_later), true);
  request.ends(Ending::complete, 429).ids("client-7", "");
  HistoryEntry story = told(request);
  story.attempts[0].address.family = policy::UpstreamAddress::Family::v4;
  story.attempts[0].address.bytes = {192, 0, 2, 7};
  story.attempts[0].address.port = 80;
  story.attempts[0].bounds = {milliseconds(125), milliseconds(250)};
  story.attempts[0].budget_left = 9.5F;
  story.attempts[1].sent_bytes = 98;
  story.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_EQ(
      to_text(story, "Raise it."),
      "request     GET http://api.internal/x\n"
      "id          k3x9q2-1\n"
      "ended       2026-01-02T10:03:12.345Z\n"
      "client      X-Request-Id client-7, trace 0af7651916cd43dd8448eb211c80319c\n"
      "route       api\n"
      "idempotent  no, or not known before the body was read\n"
      "attempt 1   at 0s: 192.0.2.7:80\n"
      "            refused in stage connect after 1ms; nothing sent\n"
      "            retryable_failure: retried after 200ms, drawn from 125ms to 250ms; 9 retries left in the "
      "budget\n"
      "attempt 2   at 201ms: no connection opened\n"
      "            429 after 5ms; 98 bytes sent\n"
      "            the upstream asked for a pause of 1m30s\n"
      "            upstream_said_later\n"
      "ends        upstream_said_later: " +
          std::string(policy::meaning(Reason::upstream_said_later)) +
          "\n"
          "client got  429 after 206ms, 0 bytes of body\n"
          "to change   Raise it.\n");
}

TEST(StoryReport, report_contains_no_terminal_control_characters) {
  ScriptedRequest request("nasty", "G\x1b[31mT", "/\r\nx");
  request.attempt(status(200), 1, stop(Reason::success)).ends(Ending::cut, 0);
  const std::string text = to_text(told(request), "");
  EXPECT_FALSE(has(text, "\x1b"));
  EXPECT_FALSE(has(text, "\r"));
  EXPECT_TRUE(has(text, "no response after"));
  EXPECT_TRUE(has(text, "; cut"));
}

TEST(StoryReport, report_shows_hedges_and_stale_connections_and_other_rare_events) {
  ScriptedRequest request("rare", "CONNECT", "");
  policy::Responded said_no{503, {{}, {}, true, true}, true};
  request.attempt(said_no, 1, {true, milliseconds(30), Reason::hedged}, true);
  request.attempt(status(503), 1, {true, {}, Reason::stale_connection});
  request.attempt(status(409), 1, {false, milliseconds(30), Reason::client_gone});
  request.ends(Ending::client_gone, 409).tunnel().own_response().ambiguous();
  HistoryEntry story = told(request);
  story.hedge = policy::HedgeOutcome::refused;
  story.hedge_refusal = Reason::budget_spent;
  story.attempts[0].may_have_sent = true;
  story.attempts_left_out = 5;
  story.attempts_before_the_gap = 1;
  const std::string text = to_text(story, "");
  for (const char* words :
       {"CONNECT api.internal:80", "hedged: a hedge after 30ms", "stale_connection: retried at once",
        "...         5 more", "client_gone: a wait of 30ms was not started or was interrupted",
        "the upstream asked not to retry", "another reprise", "the body reports a failure",
        "part of the request may have been sent", "409 from reprise", "ambiguous",
        "hedge refused: budget_spent", "client_gone"})
    EXPECT_TRUE(has(text, words)) << words << "\n" << text;
}

TEST(StoryReport, M113_report_shows_which_attempts_used_http2) {
  ScriptedRequest request("http2", "POST", "/x");
  request.attempt(excluded_by_goaway(), 1, {true, {}, Reason::stale_connection}, true).over_http2();
  request.attempt(stream_reset("cancel"), 5, stop(Reason::not_idempotent)).over_http2(milliseconds(30));
  request.ends(Ending::complete, 502);
  HistoryEntry story = told(request);
  for (HistoryAttempt& attempt : story.attempts) {
    attempt.address.family = policy::UpstreamAddress::Family::v4;
    attempt.address.bytes = {192, 0, 2, 7};
    attempt.address.port = 80;
  }
  story.attempts[0].sent_bytes = 98;
  const std::string text = to_text(story, "");
  for (const char* words :
       {"192.0.2.7:80, HTTP/2, on a reused connection\n",
        "goaway in stage await_head after 1ms; 98 bytes sent; the upstream processed nothing\n",
        "192.0.2.7:80, HTTP/2, after 30ms in the queue for a stream\n",
        "stream_reset (cancel) in stage await_head after 5ms"})
    EXPECT_TRUE(has(text, words)) << words << "\n" << text;
}

std::string line_of(const std::string& text, std::string_view heading) {
  const std::size_t begin = text.find("\n" + std::string(heading));
  const std::size_t end = text.find('\n', begin + 1);
  return begin == std::string::npos ? std::string() : text.substr(begin + 1, end - begin - 1);
}

// The report shows a complete URL, so that it can be copied and requested again.
TEST(StoryReport, report_names_the_request_by_its_url) {
  ScriptedRequest request("plain", "GET", "/x");
  request.attempt(status(200), 1, stop(Reason::success)).ends(Ending::complete, 200);
  HistoryEntry story = told(request);
  const auto asked = [&](bool over_tls, std::uint16_t port) {
    story.over_tls = over_tls;
    story.port = port;
    const std::string text = to_text(story, "");
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(asked(false, 80), "request     GET http://api.internal/x");
  EXPECT_EQ(asked(false, 443), "request     GET http://api.internal:443/x");
  EXPECT_EQ(asked(true, 443), "request     GET https://api.internal/x");
  EXPECT_EQ(asked(true, 80), "request     GET https://api.internal:80/x");
  story.host = "::1";
  EXPECT_EQ(asked(false, 8080), "request     GET http://[::1]:8080/x");
}

TEST(StoryReport, report_identifies_the_client_by_address_trace_or_request_id) {
  ScriptedRequest request("named", "GET", "/x");
  request.attempt(status(200), 1, stop(Reason::success)).ends(Ending::complete, 200);
  HistoryEntry story = told(request);
  const auto by_whom = [&] { return line_of(to_text(story, ""), "client  "); };
  EXPECT_EQ(by_whom(), "") << "nothing is known";
  story.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_EQ(by_whom(), "client      trace 0af7651916cd43dd8448eb211c80319c");
  story.client = "192.0.2.1:40000";
  EXPECT_EQ(by_whom(), "client      192.0.2.1:40000, trace 0af7651916cd43dd8448eb211c80319c");
  story.request_id = "client-7";
  story.traceparent.clear();
  EXPECT_EQ(by_whom(), "client      192.0.2.1:40000, X-Request-Id client-7");
}

TEST(StoryReport, report_shows_recovery_and_reused_connections) {
  ScriptedRequest request("recovered", "GET", "/x");
  request.attempt(failure(policy::Stage::await_head, policy::Cause::closed), 1,
                  {true, {}, Reason::stale_connection}, true);
  request.attempt(status(200), 4, stop(Reason::success)).ends(Ending::complete, 200);
  HistoryEntry story = told(request);
  story.idempotent = true;
  for (HistoryAttempt& attempt : story.attempts) {
    attempt.address.family = policy::UpstreamAddress::Family::v4;
    attempt.address.bytes = {192, 0, 2, 7};
    attempt.address.port = 80;
  }
  const std::string text = to_text(story, "");
  EXPECT_EQ(line_of(text, "idempotent"), "idempotent  yes");
  EXPECT_EQ(line_of(text, "attempt 1"), "attempt 1   at 0s: 192.0.2.7:80, on a reused connection");
  EXPECT_EQ(line_of(text, "attempt 2"), "attempt 2   at 1ms: 192.0.2.7:80");
  EXPECT_EQ(line_of(text, "client got"), "client got  200 after 5ms, 0 bytes of body; recovered");
}

TEST(StoryAdvice, advice_refers_to_the_reason_that_ended_the_request) {
  ScriptedRequest refused("refused", "POST", "/x");
  refused.attempt(status(503), 1, stop(Reason::not_idempotent)).ends(Ending::complete, 503);
  EXPECT_TRUE(has(advice_for(told(refused), {}), "Idempotency-Key"));
  ScriptedRequest spent("spent", "GET", "/x");
  spent.attempt(status(503), 1, stop(Reason::attempts_spent)).ends(Ending::complete, 503);
  EXPECT_EQ(advice_for(told(spent), {}), "Raise `retry.max_attempts` of the route.");
  ScriptedRequest never("never", "GET", "/x");
  never.ends(Ending::complete, 503);
  HistoryEntry opened = told(never);
  opened.reason = Reason::circuit_open;
  EXPECT_TRUE(has(advice_for(opened, {}), "circuit: off"));
}

HistoryEntry spent_after(const policy::Outcome& outcome) {
  ScriptedRequest request("spent", "GET", "/x");
  request.attempt(outcome, 1, retry_in(milliseconds(1), Reason::retryable_failure));
  request.attempt(outcome, 1, retry_in(milliseconds(1), Reason::retryable_failure));
  request.attempt(outcome, 1, stop(Reason::attempts_spent)).ends(Ending::complete, 502);
  return told(request);
}

TEST(StoryAdvice, advice_on_a_name_that_does_not_exist_is_to_correct_it) {
  policy::Failed no_name{policy::Stage::resolve, policy::Cause::dns_error};
  EXPECT_TRUE(has(advice_for(spent_after(no_name), {}), "`retry.max_attempts`"));
  no_name.never_existed = true;
  const HistoryEntry story = spent_after(no_name);
  EXPECT_TRUE(has(advice_for(story, {}), "Correct the name"));
  EXPECT_TRUE(has(to_text(story, ""), "attempts_spent: the name does not exist, and is looked up at most"));
}

TEST(StoryAdvice, advice_on_a_download_that_ran_out_of_resumes_names_their_limit) {
  ScriptedRequest request("resumed", "GET", "/x");
  request.attempt(status(200), 1, retry_in(milliseconds(1), Reason::resumed));
  request.attempt(failure(policy::Stage::connect, policy::Cause::refused), 1, stop(Reason::attempts_spent));
  const HistoryEntry story = told(request.ends(Ending::cut, 200));
  EXPECT_EQ(advice_for(story, {}), "Raise `resume.max_attempts` of the route.");
  EXPECT_TRUE(has(to_text(story, ""), "attempts_spent: resume.max_attempts is reached"));
}

TEST(StoryAdvice, D16_advice_on_a_no_store_upload_does_not_name_the_disk) {
  ScriptedRequest request("upload", "PUT", "/x");
  request.attempt(status(503), 1, stop(Reason::not_replayable)).ends(Ending::complete, 503);
  HistoryEntry story = told(request);
  story.idempotent = true;
  EXPECT_TRUE(has(advice_for(story, {}), "Raise `replay.disk`"));
  story.no_store = true;
  EXPECT_FALSE(has(advice_for(story, {}), "Raise `replay.disk`"));
  EXPECT_TRUE(has(advice_for(story, {}), "a `no-store` request is not written to disk"));
}

// If a second execution does no harm, or if nothing was sent, listing the failure in retry.on is enough to
// allow the retry.
TEST(StoryAdvice, advice_mentions_a_second_obstacle_only_if_it_would_still_prevent_the_retry) {
  ScriptedRequest request("unlisted", "POST", "/x");
  request.attempt(failure(policy::Stage::send, policy::Cause::reset), 1, stop(Reason::not_retryable));
  request.ends(Ending::complete, 502);
  HistoryEntry story = told(request);
  story.attempts[0].may_have_sent = true;
  EXPECT_TRUE(has(advice_for(story, {}), "That alone is not enough"));
  story.attempts[0].may_have_sent = false;
  EXPECT_FALSE(has(advice_for(story, {}), "not enough")) << "nothing was sent";
  story.attempts[0].may_have_sent = true;
  story.idempotent = true;
  EXPECT_FALSE(has(advice_for(story, {}), "not enough")) << "it may be sent twice";
}

TEST(StoryAdvice, advice_is_empty_if_no_retry_was_refused) {
  ScriptedRequest good("good", "GET", "/x");
  good.attempt(status(200), 1, stop(Reason::success)).ends(Ending::complete, 200);
  EXPECT_EQ(advice_for(told(good), {}), "");
}

}  // namespace
}  // namespace reprise::tools
