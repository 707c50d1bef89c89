// Tests the proxy's own responses: the status, the Proxy-Status word and the body of each cause.
#include "proxy/http/http1/reply.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "proxy/http/http1/max_forwards_response.hpp"
#include "proxy/http/http1/phrase.hpp"
#include "proxy/policy/decision/attempt_limit.hpp"
#include "tests/http/reading.hpp"
#include "tests/support/ledger_of.hpp"

namespace reprise::http {
namespace {

using std::string;

using play::ledger_of;

TEST(Reply, K2_M109_every_failure_has_its_status_and_proxy_status_error) {
  const std::tuple<policy::Cause, int, const char*> expected[] = {
      {policy::Cause::dns_error, 502, "dns_error"},
      {policy::Cause::dns_timeout, 504, "dns_timeout"},
      {policy::Cause::refused, 502, "connection_refused"},
      {policy::Cause::unreachable, 502, "destination_ip_unroutable"},
      {policy::Cause::connect_timeout, 504, "connection_timeout"},
      {policy::Cause::no_local_port, 503, "connection_limit_reached"},
      {policy::Cause::no_descriptor, 503, "connection_limit_reached"},
      {policy::Cause::address_denied, 403, "destination_ip_prohibited"},
      {policy::Cause::address_is_self, 508, "proxy_loop_detected"},
      {policy::Cause::parent_unreachable, 502, "destination_unavailable"},
      {policy::Cause::parent_timeout, 504, "connection_timeout"},
      {policy::Cause::parent_refused, 502, "connection_refused"},
      {policy::Cause::tls_protocol_error, 502, "tls_protocol_error"},
      {policy::Cause::tls_certificate_error, 502, "tls_certificate_error"},
      {policy::Cause::tls_alert_received, 502, "tls_alert_received"},
      {policy::Cause::closed, 502, "connection_terminated"},
      {policy::Cause::reset, 502, "connection_terminated"},
      {policy::Cause::keepalive_lost, 502, "connection_terminated"},
      {policy::Cause::unacknowledged, 502, "connection_terminated"},
      {policy::Cause::not_http2, 502, "http_protocol_error"},
      {policy::Cause::stream_refused, 502, "connection_refused"},
      {policy::Cause::stream_reset, 502, "connection_terminated"},
      {policy::Cause::goaway, 502, "connection_terminated"},
      {policy::Cause::http_1_1_required, 502, "http_protocol_error"},
      {policy::Cause::attempt_timeout, 504, "http_response_timeout"},
      {policy::Cause::response_timeout, 504, "http_response_timeout"},
      {policy::Cause::malformed_response, 502, "http_protocol_error"},
      {policy::Cause::header_too_large, 502, "http_response_header_section_size"},
      {policy::Cause::truncated, 502, "http_response_incomplete"},
      {policy::Cause::cancelled, 503, "proxy_internal_response"},
      {policy::Cause::replay_lost, 502, "proxy_internal_error"}};
  ASSERT_EQ(std::size(expected), policy::cause_count);
  for (const auto& [cause, status, error] : expected) {
    const policy::Ledger ledger =
        ledger_of(policy::Failed{policy::Stage::connect, cause}, policy::Reason::not_retryable);
    const Reply reply = failure_reply(ledger, false, "reprise-x1");
    EXPECT_EQ(reply.status, status) << policy::word(cause);
    EXPECT_EQ(reply.proxy_status, "reprise-x1; error=" + string(error));
    EXPECT_NE(reason_phrase(status), "");
  }
}

TEST(Reply, K2_broken_tls_handshake_is_a_tls_protocol_error) {
  const auto error = [](policy::Cause cause) {
    return failure_reply(ledger_of(policy::Failed{policy::Stage::tls, cause}, policy::Reason::not_retryable),
                         false, "p")
        .proxy_status;
  };
  EXPECT_EQ(error(policy::Cause::closed), "p; error=tls_protocol_error");
  EXPECT_EQ(error(policy::Cause::reset), "p; error=tls_protocol_error");
  EXPECT_EQ(error(policy::Cause::connect_timeout), "p; error=connection_timeout");
}

TEST(Reply, K3_proxy_status_of_a_failure_has_only_an_error_parameter) {
  for (unsigned i = 0; i < policy::cause_count; ++i) {
    const auto cause = static_cast<policy::Cause>(i);
    const policy::Failed failed{policy::Stage::connect, cause};
    const Reply reply = failure_reply(ledger_of(failed, policy::Reason::not_retryable), false, "p");
    EXPECT_EQ(reply.proxy_status, "p; error=" + string(proxy_status_error(cause)));
  }
  for (std::size_t i = 0; i < rejection_count; ++i) {
    const auto cause = static_cast<Rejection>(i);
    EXPECT_EQ(rejection_reply(cause, "p").proxy_status, "p; error=" + string(proxy_status_error(cause)));
  }
}

TEST(Reply, error_body_names_attempt_stage_cause_and_stop_reason) {
  const Reply reply = failure_reply(ledger_of(policy::Failed{policy::Stage::connect, policy::Cause::refused},
                                              policy::Reason::attempts_spent, 4),
                                    false, "p");
  EXPECT_EQ(reply.body,
            "reprise: attempt 4 of 4 failed while connecting to the upstream: connection refused\nnot "
            "retried: attempts_spent (" +
                string(policy::meaning(policy::Reason::attempts_spent, policy::AttemptLimit::attempts)) +
                ")\n");
  EXPECT_EQ(reply.reason, "attempts_spent");
}

TEST(Reply, error_body_includes_the_tls_library_message) {
  policy::Failed failed{policy::Stage::tls, policy::Cause::tls_certificate_error};
  failed.why = "certificate has expired";
  const Reply reply = failure_reply(ledger_of(failed, policy::Reason::not_retryable), false, "p");
  EXPECT_NE(reply.body.find(" (certificate has expired)\n"), string::npos) << reply.body;
}

TEST(Reply, M70_error_body_names_the_code_with_which_the_stream_was_reset) {
  policy::Failed failed{policy::Stage::await_head, policy::Cause::stream_reset};
  failed.why = "internal_error";
  const Reply reply = failure_reply(ledger_of(failed, policy::Reason::not_idempotent), false, "p");
  EXPECT_NE(reply.body.find("the upstream reset the HTTP/2 stream (internal_error)\n"), string::npos)
      << reply.body;
}

TEST(Reply, error_body_names_the_parent_if_its_certificate_fails_verification) {
  policy::Failed failed{policy::Stage::tls, policy::Cause::tls_certificate_error};
  failed.of_parent = true;
  const Reply reply = failure_reply(ledger_of(failed, policy::Reason::not_retryable), false, "p");
  EXPECT_NE(reply.body.find("handshake with the parent proxy: "), string::npos) << reply.body;
  EXPECT_NE(reply.body.find("set parent.ca_file to that authority's file.\n"), string::npos) << reply.body;
  EXPECT_EQ(reply.body.find("the upstream's certificate"), string::npos) << reply.body;
}

TEST(Reply, N11_error_body_names_the_tls_alert_that_rejected_this_client) {
  policy::Failed failed{policy::Stage::tls, policy::Cause::tls_alert_received};
  failed.why = "certificate required";
  const string body = failure_reply(ledger_of(failed, policy::Reason::not_retryable), false, "p").body;
  EXPECT_NE(body.find("rejected the TLS handshake with an alert (certificate required)\n"), string::npos)
      << body;
  EXPECT_NE(body.find("tls.certificate and tls.key"), string::npos) << body;
  failed.of_parent = true;
  const string parent = failure_reply(ledger_of(failed, policy::Reason::not_retryable), false, "p").body;
  EXPECT_NE(parent.find("the parent proxy rejected the TLS handshake with an alert (certificate required)\n"),
            string::npos)
      << parent;
}

TEST(Reply, error_body_differs_for_every_failure_stage) {
  std::set<string> bodies;
  for (int stage = 0; stage < policy::stage_count; ++stage) {
    const policy::Failed failed{static_cast<policy::Stage>(stage), policy::Cause::reset};
    bodies.insert(failure_reply(ledger_of(failed, policy::Reason::not_idempotent), false, "p").body);
  }
  EXPECT_EQ(bodies.size(), policy::stage_count);
}

TEST(Reply, L16_proxy_status_reports_the_status_with_which_the_parent_refused) {
  const policy::Failed refused{policy::Stage::connect, policy::Cause::parent_refused, 407};
  const Reply reply = failure_reply(ledger_of(refused, policy::Reason::not_retryable), false, "p");
  EXPECT_EQ(reply.status, 502);
  EXPECT_EQ(reply.proxy_status, "p; error=connection_refused; received-status=407");
}

TEST(Reply, exceeded_deadline_gives_504) {
  const Reply failed = failure_reply(ledger_of(policy::Failed{policy::Stage::connect, policy::Cause::refused},
                                               policy::Reason::deadline_too_near),
                                     true, "p");
  EXPECT_EQ(failed.status, 504);
  const Reply responded =
      failure_reply(ledger_of(policy::Responded{503, {}}, policy::Reason::deadline_too_near, 2), true, "p");
  EXPECT_EQ(responded.status, 504);
  EXPECT_EQ(responded.proxy_status, "p; error=http_response_timeout; received-status=503");
  EXPECT_NE(responded.body.find("attempt 2 of 2 got status 503"), string::npos);
  EXPECT_EQ(
      failure_reply(ledger_of(policy::Responded{503, {}}, policy::Reason::shutting_down), false, "p").status,
      502);
}

TEST(Reply, status_depends_on_the_reason_if_no_attempt_was_made) {
  const auto status = [](policy::Reason reason) {
    policy::Ledger ledger;
    ledger.reason = reason;
    const Reply reply = failure_reply(ledger, false, "p");
    EXPECT_EQ(reply.body.rfind("reprise: no attempt was made\n", 0), 0U);
    return reply.status;
  };
  EXPECT_EQ(status(policy::Reason::address_denied), 403);
  EXPECT_EQ(status(policy::Reason::circuit_open), 503);
  EXPECT_EQ(status(policy::Reason::host_paused), 503);
  EXPECT_EQ(status(policy::Reason::shutting_down), 503);
  EXPECT_EQ(status(policy::Reason::deadline_too_near), 504);
}

TEST(Reply, every_reason_without_an_attempt_has_its_own_status_or_503) {
  const std::map<policy::Reason, int> own{{policy::Reason::address_denied, 403},
                                          {policy::Reason::deadline_too_near, 504}};
  for (std::size_t i = 0; i < policy::count_of<policy::Reason>; ++i) {
    policy::Ledger ledger;
    ledger.reason = static_cast<policy::Reason>(i);
    const auto found = own.find(ledger.reason);
    EXPECT_EQ(failure_reply(ledger, false, "p").status, found == own.end() ? 503 : found->second)
        << policy::word(ledger.reason);
  }
}

TEST(Reply, every_rejection_has_a_unique_word_and_a_sentence_and_a_status) {
  std::set<string> words;
  std::set<string> sentences;
  const auto all = all_words();
  for (std::size_t i = 0; i < rejection_count; ++i) {
    const auto cause = static_cast<Rejection>(i);
    EXPECT_EQ(all[i], word(cause));
    words.insert(string(word(cause)));
    sentences.insert(string(sentence(cause)));
    const Reply reply = rejection_reply(cause, "p");
    EXPECT_EQ(reply.status, status_of(cause));
    EXPECT_NE(reason_phrase(reply.status), "");
    EXPECT_NE(reply.body.find(string(word(cause))), string::npos);
    EXPECT_EQ(reply.body.back(), '\n');
    EXPECT_EQ(reply.reason, word(cause));
    EXPECT_EQ(reply.proxy_status, "p; error=" + string(proxy_status_error(cause)));
  }
  EXPECT_EQ(words.size(), rejection_count);
  EXPECT_EQ(sentences.size(), rejection_count);
  EXPECT_EQ(proxy_status_error(Rejection::loop), "proxy_loop_detected");
  EXPECT_EQ(proxy_status_error(Rejection::bad_host), "http_request_error");
}

TEST(Reply, H9_generated_response_matches_the_expected_bytes) {
  const Reply reply{403, "", "p; error=http_request_denied", "no\n"};
  string out;
  write_reply(reply, "Sun, 06 Nov 1994 08:49:37 GMT", "Reprise-Reason: x\r\n", true, false, out);
  const string head =
      "HTTP/1.1 403 Forbidden\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain\r\n"
      "X-Content-Type-Options: nosniff\r\nContent-Length: 3\r\nProxy-Status: p; error=http_request_denied\r\n"
      "Reprise-Reason: x\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(out, head + "no\n");
  out.clear();
  write_reply(reply, "Sun, 06 Nov 1994 08:49:37 GMT", "Reprise-Reason: x\r\n", true, true, out);
  EXPECT_EQ(out, head);
  const ReadResponse read(out);
  EXPECT_EQ(read.parsed, complete);
  EXPECT_FALSE(read.head.reusable);
}

TEST(Reply, generated_response_omits_empty_proxy_status_and_connection_close) {
  string out;
  write_reply({403, "", "", "no\n"}, "D", "", false, false, out);
  EXPECT_EQ(out,
            "HTTP/1.1 403 Forbidden\r\nDate: D\r\nContent-Type: text/plain\r\n"
            "X-Content-Type-Options: nosniff\r\nContent-Length: 3\r\n\r\nno\n");
  EXPECT_TRUE(ReadResponse(out).head.reusable);
}

TEST(Reply, only_standard_status_codes_have_a_reason_phrase) {
  EXPECT_EQ(reason_phrase(200), "OK");
  EXPECT_EQ(reason_phrase(502), "Bad Gateway");
  for (const int status : {0, 99, 299, 499, 509, 599}) EXPECT_EQ(reason_phrase(status), "") << status;
}

TEST(Reply, J5_trace_echo_omits_credentials) {
  const ReadRequest read(
      "TRACE http://h/a HTTP/1.1\r\nHost: h\r\nAuthorization: s1\r\nCookie: s2\r\nProxy-Authorization: "
      "s3\r\nX-Api-Key: s4\r\n"
      "Max-Forwards: 0\r\nX: y\r\n\r\n");
  string out;
  write_max_forwards_response(read.head, "D", "Connection: close\r\n", out);
  const string body = "TRACE http://h/a HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\nX: y\r\n\r\n";
  EXPECT_EQ(out,
            "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: message/http\r\nX-Content-Type-Options: nosniff\r\n"
            "Content-Length: " +
                std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
}

TEST(Reply, J5_trace_echoes_the_received_http_version) {
  const ReadRequest read("TRACE http://h/ HTTP/1.0\r\nMax-Forwards: 0\r\n\r\n");
  string out;
  write_max_forwards_response(read.head, "D", "", out);
  EXPECT_TRUE(out.ends_with("\r\n\r\nTRACE http://h/ HTTP/1.0\r\nMax-Forwards: 0\r\n\r\n")) << out;
}

TEST(Reply, local_options_response_has_no_content) {
  const ReadRequest read("OPTIONS http://h/ HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\n\r\n");
  string out;
  write_max_forwards_response(read.head, "D", "", out);
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 0\r\n\r\n");
}

}  // namespace
}  // namespace reprise::http
