// Tests the proxy's own response to a call.
#include "proxy/http/grpc/failure.hpp"

#include <gtest/gtest.h>

#include "proxy/http/grpc/status.hpp"
#include "proxy/http/http2/response_fields.hpp"
#include "tests/http/reading.hpp"
#include "tests/http2/field_lists.hpp"
#include "tests/support/ledger_of.hpp"

namespace reprise::http {
namespace {

using policy::GrpcStatus;
using std::string;

constexpr std::string_view date = "Tue, 14 Nov 2023 22:13:20 GMT";

Reply reply_of(const string& body) {
  Reply reply;
  reply.body = body;
  return reply;
}

string failure_text(const Reply& reply, GrpcStatus status, std::string_view extra_fields = "") {
  string text;
  write_call_failure(reply, status, date, extra_fields, text);
  return text;
}

/// Returns the value of grpc-message for a reply with that body.
string message_of(const string& body) {
  const ReadResponse read(failure_text(reply_of(body), GrpcStatus::internal));
  EXPECT_EQ(read.parsed, complete) << body;
  EXPECT_EQ(read.head.bytes, read.text.size()) << body;
  for (const FieldLine& field : read.head.fields) {
    if (field.name == "grpc-message") return string(field.value);
  }
  return "no grpc-message";
}

TEST(CallFailure, M80_http_status_of_the_proxy_has_its_grpc_status) {
  const std::tuple<int, GrpcStatus, GrpcStatus> expected[] = {
      {502, GrpcStatus::unavailable, GrpcStatus::deadline_exceeded},
      {503, GrpcStatus::unavailable, GrpcStatus::deadline_exceeded},
      {504, GrpcStatus::unavailable, GrpcStatus::deadline_exceeded},
      {403, GrpcStatus::permission_denied, GrpcStatus::permission_denied},
      {413, GrpcStatus::resource_exhausted, GrpcStatus::resource_exhausted},
      {431, GrpcStatus::resource_exhausted, GrpcStatus::resource_exhausted},
      {508, GrpcStatus::internal, GrpcStatus::internal},
      {400, GrpcStatus::internal, GrpcStatus::internal},
      {404, GrpcStatus::internal, GrpcStatus::internal},
      {421, GrpcStatus::internal, GrpcStatus::internal},
      {500, GrpcStatus::internal, GrpcStatus::internal},
      {501, GrpcStatus::internal, GrpcStatus::internal},
      {505, GrpcStatus::internal, GrpcStatus::internal}};
  for (const auto& [http, grpc, after_deadline] : expected) {
    EXPECT_EQ(status_of_failure(http, false), grpc) << http;
    EXPECT_EQ(status_of_failure(http, true), after_deadline) << http;
  }
}

TEST(CallFailure, M80_response_is_one_block_of_fields_without_framing) {
  const policy::Ledger ledger = play::ledger_of(
      policy::Failed{policy::Stage::connect, policy::Cause::refused}, policy::Reason::not_retryable);
  const Reply reply = failure_reply(ledger, false, "reprise-x1");
  const string text = failure_text(reply, status_of_failure(reply.status, false), "Reprise-Attempts: 1\r\n");
  FieldBlock block;
  write_response_fields(text, block);
  string message = reply.body.substr(0, reply.body.size() - 1);
  message.replace(message.find('\n'), 1, "; ");
  EXPECT_EQ(lines_of(block),
            (Lines{":status=200", "date=" + string(date), "content-type=application/grpc", "grpc-status=14",
                   "grpc-message=" + message, "proxy-status=reprise-x1; error=connection_refused",
                   "reprise-attempts=1"}));
}

TEST(CallFailure, M80_text_is_appended_and_proxy_status_is_optional) {
  string out = "before";
  write_call_failure(reply_of("x\n"), GrpcStatus::ok, date, "", out);
  EXPECT_EQ(out, "beforeHTTP/1.1 200 OK\r\nDate: " + string(date) +
                     "\r\nContent-Type: application/grpc\r\ngrpc-status: 0\r\ngrpc-message: x\r\n\r\n");
}

TEST(CallFailure, M80_every_status_is_written_as_its_number) {
  for (std::size_t i = 0; i < policy::grpc_status_count; ++i) {
    const auto status = static_cast<GrpcStatus>(i);
    const ReadResponse read(failure_text(reply_of("x\n"), status));
    EXPECT_EQ(status_of(read.head.fields), status);
  }
}

TEST(CallFailure, M80_message_is_one_line_and_percent_encoded) {
  const std::pair<string, string> expected[] = {{"", ""},
                                                {"\n", ""},
                                                {"a", "a"},
                                                {"a\nb\n", "a; b"},
                                                {"a\nb", "a; b"},
                                                {"a\n\n", "a;"},
                                                {"100% sure\n", "100%25 sure"},
                                                {"~}!\n", "~}!"},
                                                {"a\x7f\n", "a%7F"},
                                                {"a\r\n", "a%0D"},
                                                {"a\tb\x1f\n", "a%09b%1F"},
                                                {string("\0\n", 2), "%00"},
                                                {"\xc3\xa4\xff\n", "%C3%A4%FF"}};
  for (const auto& [body, message] : expected) EXPECT_EQ(message_of(body), message) << body;
}

}  // namespace
}  // namespace reprise::http
