#include "proxy/cli/commands/assumption.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "config/keys/keys.hpp"
#include "config/keys/values.hpp"
#include "proxy/forward/attempt/http2_lease.hpp"
#include "proxy/http/body_rules/response_body_probe.hpp"
#include "proxy/http/grpc/hints.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/http/retry_hints/hint.hpp"
#include "proxy/http/retry_hints/signature.hpp"
#include "proxy/net/io/failure.hpp"
#include "proxy/policy/match/status_range.hpp"

namespace reprise::cli {
namespace {

namespace ascii = http::ascii;

const policy::FailureWord& failure_of(const std::string& given) {
  const auto called = [](std::string_view text) {
    return std::find_if(policy::failure_words.begin(), policy::failure_words.end(),
                        [&](const policy::FailureWord& known) { return known.text == text; });
  };
  const auto none = policy::failure_words.end();
  if (const auto known = called(given); known != none) return *known;
  const config::Key* const key = config::find_key("defaults.retry.on");
  const std::string meant = key == nullptr ? std::string() : config::correction(*key, given);
  throw BadUse("unknown failure " + given + config::did_you_mean(called(meant) == none ? "" : meant) +
               "; the failures are " + failure_words(", "));
}

// Returns true for a field that only responses have: a field that read_hints reads, or the error type of an
// AWS service.
bool belongs_to_response(const std::string& header) {
  static constexpr std::array<std::string_view, 13> names{
      "retry-after",        "retry-after-ms",        "x-should-retry",         "x-amz-retry-after",
      "x-ratelimit-reset",  "x-ratelimit-remaining", "grpc-retry-pushback-ms", "ratelimit",
      "ratelimit-policy",   "x-amzn-errortype",      "x-ms-retry-after-ms",    "x-ratelimit-reset-after",
      "stripe-should-retry"};
  const std::string_view name = ascii::trim(std::string_view(header).substr(0, header.find(':')));
  for (const std::string_view known : names) {
    if (ascii::same(name, known)) return true;
  }
  return false;
}

std::int64_t now_unix() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::string response_text(int status, const std::vector<std::string>& headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " \r\n";
  for (const std::string& header : headers) ascii::append(text, header, "\r\n");
  return text += "\r\n";
}

// Parses a response head. The returned head refers to the bytes of `text`.
http::ResponseHead read_response(const std::string& text) {
  http::ResponseHead head;
  const http::Parsed parsed = http::parse_response(text, {}, "GET", head);
  if (const auto* cause = std::get_if<http::Rejection>(&parsed))
    throw BadUse("in the assumed response: " + refusal(*cause));
  if (head.bytes != text.size() || !head.clean.empty())
    throw BadUse("in the assumed response: a header has a line break");
  return head;
}

const policy::BodyPredicate* listed_by_body(const policy::HoldPolicy& hold, const http::ResponseHead& head,
                                            std::string_view body) {
  const policy::BodyKind kind = http::body_kind(head);
  if (kind == policy::BodyKind::event_stream) {
    http::FirstEvent event;
    event.feed(body);
    return policy::match_body(hold.body, head.status, http::EventResponse(event));
  }
  if (body.size() > policy::bytes_to_hold(hold, head.status, kind)) return nullptr;
  return policy::match_body(hold.body, head.status, http::WholeResponse(body, kind));
}

std::string from_attempt(unsigned attempt) {
  return attempt == 1 ? "every attempt" : "every attempt from " + std::to_string(attempt) + " on";
}

// Throws BadUse if the command line describes a response, although `option` assumes that none arrives.
void demand_no_response(const AssumptionArguments& given, const std::string& option) {
  const auto refuse = [&](const std::string& other) {
    throw BadUse(other + " describes a response: " +
                 (given.call.name.empty() ? "use it with --status, not with " : "do not use it with ") +
                 option);
  };
  if (!given.response_headers.empty()) refuse("--response-header");
  if (!given.response_body.empty()) refuse("--response-body");
  if (!given.call.status.empty()) refuse("--grpc-status");
  if (!given.call.pushback.empty()) refuse("--pushback");
}

// Returns the error code with that word. `other` is no code that an upstream could send.
policy::Http2Code code_of(const std::string& given) {
  std::string words;
  for (std::uint32_t value = 0; value < static_cast<std::uint32_t>(policy::Http2Code::other); ++value) {
    const auto code = static_cast<policy::Http2Code>(value);
    if (ascii::same(given, policy::word(code))) return code;
    ascii::append(words, words.empty() ? "" : ", ", policy::word(code));
  }
  throw BadUse("unknown error code " + given + "; the codes are " + words);
}

Assumption assume_stream_end(const AssumptionArguments& given, const std::vector<std::string>& headers,
                             bool tunnel) {
  const std::string option = given.goaway ? "--goaway" : "--reset";
  demand_no_response(given, option);
  if (tunnel) throw BadUse(option + " describes an HTTP/2 stream, and a tunnel has none");
  const bool late = given.call.after_message;
  if (late && given.goaway)
    throw BadUse("--goaway means that the upstream did nothing: leave out --after-message");
  using Kind = http::Http2Failure::Kind;
  Assumption assumed;
  assumed.stream_end = given.goaway ? http::Http2Failure{Kind::above_last_id, policy::Http2Code::no_error}
                                    : http::Http2Failure{Kind::reset, code_of(given.reset)};
  assumed.attempt = given.attempt;
  assumed.words = from_attempt(given.attempt);
  if (given.goaway) {
    assumed.words += ": the upstream closes the HTTP/2 connection, and its GOAWAY excludes the request";
  } else {
    ascii::append(assumed.words, ": the upstream resets the HTTP/2 stream with the code ",
                  policy::word(assumed.stream_end->code),
                  late ? " after the first message of the response" : " before the response head");
  }
  assumed.after_message = assumed.stream_end->responded = late;
  assumed.request_headers = headers;
  return assumed;
}

Assumption assume_failure(const AssumptionArguments& given, const std::vector<std::string>& headers) {
  demand_no_response(given, "--failure");
  const policy::FailureWord& failure = failure_of(given.failure);
  Assumption assumed;
  assumed.outcome = failure.example;
  assumed.attempt = given.attempt;
  assumed.words = from_attempt(given.attempt) + ": " + std::string(failure.sentence);
  if (given.call.after_message) {
    auto& failed = std::get<policy::Failed>(assumed.outcome);
    const bool may_break = failed.cause == policy::Cause::reset || failed.cause == policy::Cause::truncated;
    if (!may_break)
      throw BadUse(
          "--after-message describes a response that has begun: use it with --grpc-status, --reset, "
          "--failure reset or --failure truncated");
    failed.stage = policy::Stage::body;
    assumed.after_message = true;
    assumed.words = from_attempt(given.attempt) + ": the connection breaks after the first message";
  }
  assumed.request_headers = headers;
  return assumed;
}

// Describes the end of a gRPC call in the assumption, and adds the fields with which the call ends to the
// response. Returns the status if the call ends with it before its first message. A response with another
// HTTP status than 200 need not have a status of the call (row M74).
std::optional<policy::GrpcStatus> status_of_call(const AssumptionArguments& given, int http_status,
                                                 std::vector<std::string>& response, Assumption& assumed) {
  const CallArguments& call = given.call;
  const auto named = ending_of(call);
  if (!named && call.after_message)
    throw BadUse("--after-message needs the end of the call: add --grpc-status, --reset or --failure");
  if (call.after_message && (!call.pushback.empty() || http_status != 200))
    throw BadUse(
        "a call is not retried after its first message: leave out --after-message, --pushback or --status");
  if (!named && given.status && http_status != 200) return std::nullopt;
  const policy::GrpcStatus without =
      given.status ? policy::GrpcStatus::unknown : policy::GrpcStatus::unavailable;
  const policy::GrpcStatus status = named.value_or(without);
  const std::string number = std::to_string(static_cast<int>(status));
  assumed.words = from_attempt(given.attempt);
  if (!named && given.status) {
    assumed.words += ": the call ends without a grpc-status, which counts as 2 (unknown)";
    return status;
  }
  ascii::append(assumed.words, ": the call ends with grpc-status ", number, " (", policy::word(status), ")",
                call.after_message ? " after the first message" : " before any message");
  if (http_status != 200) ascii::append(assumed.words, ", HTTP status ", std::to_string(http_status));
  if (call.after_message) {
    assumed.after_message = true;
    assumed.late_status = status;
    return std::nullopt;
  }
  if (!call.pushback.empty()) response.push_back(pushback_field(call));
  return status;
}

}  // namespace

std::string failure_words(std::string_view separator) {
  std::string words;
  for (const policy::FailureWord& word : policy::failure_words)
    ascii::append(words, words.empty() ? "" : separator, word.text);
  return words;
}

Assumption assume(const AssumptionArguments& given, const std::vector<std::string>& headers, bool tunnel) {
  if (!given.failure.empty()) return assume_failure(given, headers);
  if (!given.reset.empty() || given.goaway) return assume_stream_end(given, headers, tunnel);
  if (tunnel) throw BadUse("responses inside a tunnel cannot be read: for CONNECT, use --failure connect");
  const bool call = !given.call.name.empty();
  const int status = given.status.value_or(call ? 200 : 503);
  if (status < 200 || status > policy::highest_status)
    throw BadUse("--status: write a number from 200 to " + std::to_string(policy::highest_status));
  Assumption assumed;
  assumed.attempt = given.attempt;
  assumed.words = from_attempt(given.attempt) + ": the response is " + std::to_string(status);
  std::vector<std::string> response = given.response_headers;
  for (const std::string& header : headers) {
    (belongs_to_response(header) ? response : assumed.request_headers).push_back(header);
  }
  const auto grpc = call ? status_of_call(given, status, response, assumed) : std::nullopt;
  for (const std::string& header : response) ascii::append(assumed.words, ", ", header);
  if (!given.response_body.empty()) {
    assumed.response_body = read_file(given.response_body);
    ascii::append(assumed.words, ", with the body in ", given.response_body);
  }
  assumed.response_head = response_text(status, response);
  const http::ResponseHead head = read_response(assumed.response_head);
  assumed.outcome = policy::Responded{status, http::read_hints(head, now_unix())};
  if (call) {
    auto& responded = std::get<policy::Responded>(assumed.outcome);
    responded.hints.add(http::read_call_hints(head.fields));
    responded.grpc = grpc;
  }
  if (const http::FieldLine* junk = http::hint_not_understood(head, now_unix())) {
    ascii::append(
        assumed.junk_hint, "\"", junk->name, ": ", junk->value,
        "\" is malformed, so only the backoff applies: write seconds, such as 30, or an HTTP date.");
  }
  return assumed;
}

void apply_stream_end(const policy::RoutePolicy& policy, Assumption& assumed) {
  if (!assumed.stream_end) return;
  const policy::Stage stage = assumed.after_message ? policy::Stage::body : policy::Stage::await_head;
  policy::Failed failed{stage, net::cause_of(net::error_of(*assumed.stream_end))};
  forward::describe_stream_failure(assumed.stream_end, policy.refused_stream, failed);
  assumed.outcome = failed;
}

void apply_predicates(const policy::RoutePolicy& policy, Assumption& assumed) {
  auto* const responded = std::get_if<policy::Responded>(&assumed.outcome);
  const policy::HoldPolicy* hold = responded == nullptr ? nullptr : policy::hold_for(policy, *responded);
  if (hold == nullptr) return;
  const http::ResponseHead head = read_response(assumed.response_head);
  const policy::BodyPredicate* by = policy::match_head(hold->body, head.status, http::ResponseFields(head));
  if (by == nullptr) by = listed_by_body(*hold, head, assumed.response_body);
  responded->body_listed = by != nullptr;
  responded->body_refused = by != nullptr && by->refused;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (std::filesystem::is_directory(path) || !file.is_open() || bytes.bad())
    throw BadUse("the body file " + path + " cannot be read");
  return std::move(bytes).str();
}

std::optional<policy::Instant> signature_end(const http::RequestHead& head, std::string_view query) {
  const auto expiry = http::signature_expiry(head, query);
  if (!expiry) return std::nullopt;
  return policy::Instant{} + std::chrono::seconds(*expiry - now_unix());
}

std::string refusal(http::Rejection cause) {
  std::string text(http::sentence(cause));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace reprise::cli
