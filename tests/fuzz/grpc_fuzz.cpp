// Fuzz target: gRPC calls. Message boundaries do not depend on how the body is split, a deadline never grows
// when it is written and read again, and hints, statuses and failure responses are well-formed for any input.
#include <algorithm>
#include <chrono>

#include "proxy/http/grpc/call.hpp"
#include "proxy/http/grpc/failure.hpp"
#include "proxy/http/grpc/hints.hpp"
#include "proxy/http/grpc/message_boundary.hpp"
#include "proxy/http/grpc/retry_delay.hpp"
#include "proxy/http/grpc/status.hpp"
#include "proxy/http/grpc/timeout.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/policy/match/grpc_pattern.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/support/status_details.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;
using policy::Duration;

constexpr Duration longest = std::chrono::seconds(std::int64_t{1} << 31U);

/// The boundaries of a whole body, found without a state machine.
struct Walked {
  std::uint64_t messages = 0;
  bool between = true;
};

Walked walk(std::string_view body) {
  constexpr std::size_t prefix = 5;
  Walked walked;
  while (body.size() >= prefix) {
    std::uint64_t length = 0;
    for (const char byte : body.substr(1, 4)) length = length * 256 + static_cast<unsigned char>(byte);
    if (body.size() - prefix < length) break;
    body.remove_prefix(prefix + length);
    ++walked.messages;
  }
  walked.between = body.empty();
  return walked;
}

void judge_boundary(const MessageBoundary& boundary, std::string_view read) {
  const Walked walked = walk(read);
  law(boundary.begun() == !read.empty(), "a body begins with its first byte");
  law(boundary.between_messages() == walked.between, "the same place in every split");
  law(boundary.messages() == walked.messages, "as many messages in every split");
}

void judge_boundaries(std::string_view body) {
  constexpr std::size_t longest_piece = 16;
  std::uint64_t chance = mixed(body);
  MessageBoundary pieces;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t size = std::min<std::size_t>(chance % longest_piece, body.size() - at);
    pieces.add(Exact(body.substr(at, size)).view());
    at += size;
    judge_boundary(pieces, body.substr(0, at));
    chance = chance * 6364136223846793005U + 1442695040888963407U;
    chance ^= chance >> 29U;
  }
  MessageBoundary whole;
  whole.add(body);
  judge_boundary(whole, body);
}

void judge_time(Duration time) {
  const std::string text = format_timeout(time);
  const auto again = parse_timeout(text);
  law(again.has_value(), "a written timeout is read");
  law(*again > Duration::zero() && *again <= longest, "a timeout is bounded");
  law(*again <= std::max<Duration>(time, std::chrono::milliseconds(1)), "a timeout never grows");
  law(format_timeout(*again) == text || *again == longest, "a timeout that was written stays the same");
}

void judge_timeout(std::string_view text) {
  const Exact value(text.substr(0, text.find_first_of("\r\n")));
  if (const auto time = parse_timeout(value.view())) {
    law(*time >= Duration::zero() && *time <= longest, "a timeout that was read is bounded");
    judge_time(*time);
  }
  judge_time(Duration(static_cast<std::int64_t>(mixed(text))));
  judge_time(Duration(static_cast<std::int64_t>(mixed(text) >> mixed(text) % 64)));
}

bool same(const policy::Hints& a, const policy::Hints& b) {
  return a.retry_after == b.retry_after && a.said_no == b.said_no;
}

void judge_hints(const policy::Hints& hints) {
  law(!hints.retry_after || (*hints.retry_after > Duration::zero() && *hints.retry_after <= longest),
      "a pause is bounded and not empty");
  law(!hints.aws_retry_after && !hints.from_reprise, "a call has no other hints");
}

// Reads any bytes as the decoded details of a status.
void judge_details(std::string_view details) {
  const Exact text(play::base64(details));
  const std::vector<FieldLine> fields = {{"grpc-status-details-bin", text.view(), {}, FieldId::other}};
  const policy::Hints hints = read_call_hints(fields);
  judge_hints(hints);
  law(!hints.said_no, "details never forbid a retry");
  law(read_retry_delay(play::padded_base64(details)) == hints.retry_after, "padding changes nothing");
  law(same(read_call_hints("grpc-status-details-bin: " + std::string(text.view()) + "\r\n"), hints),
      "trailers are read as a head is");
  const std::string after = play::retry_info(5) + std::string(details);
  const auto with_another = read_retry_delay(play::base64(after));
  law(!with_another || *with_another == std::max<Duration>(hints.retry_after.value_or(Duration::zero()),
                                                           std::chrono::seconds(5)),
      "the longest delay wins");
  law(!hints.retry_after || with_another, "a good detail before good details changes no verdict");
}

// Reads the delay that the bytes choose, and any bytes as an unknown field beside it.
void judge_delay(std::string_view bytes) {
  Input input(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const auto seconds = static_cast<std::int64_t>(input.word()) >> input.upto(63);
  const auto nanos = static_cast<std::int32_t>(input.word());
  const std::string status = play::bytes_field(2, input.rest()) + play::retry_info(seconds, nanos);
  const bool is_valid = seconds >= 0 && nanos >= 0 && nanos < 1'000'000'000 && (seconds > 0 || nanos > 0);
  const auto delay = read_retry_delay(play::base64(status));
  law(delay.has_value() == is_valid, "a valid delay is a hint, and no other is");
  if (!delay) return;
  const bool fits = seconds < std::int64_t{1} << 31U;
  law(*delay == (fits ? std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos) : longest),
      "a delay is read as it was written");
}

void judge_trailers(std::string_view text) {
  const Exact lines(text);
  const policy::Hints hints = read_call_hints(lines.view());
  judge_hints(hints);
  const auto status = status_of(lines.view());
  law(!status || *status <= policy::GrpcStatus::unauthenticated, "a status is one of 17");
  const std::string twice = std::string(text) + "\r\n" + std::string(text);
  law(same(read_call_hints(twice), hints) && status_of(twice) == status, "twice is the same as once");
  const Exact value(text.substr(0, text.find_first_of("\r\n")));
  law(status_of({{"grpc-status", value.view(), {}, FieldId::other}}).has_value(), "every value is a status");
  read_retry_delay(value.view());
}

void judge_path(std::string_view text) {
  const Exact path(text);
  const policy::CallName call = policy::call_name(path.view());
  law(call.service.empty() == call.method.empty(), "a name is not empty");
  if (call.service.empty()) return;
  law("/" + std::string(call.service) + "/" + std::string(call.method) == text, "a path is two names");
  law(call.service.find('/') == std::string_view::npos && call.method.find('/') == std::string_view::npos,
      "a name has no slash");
}

void judge_failure(std::string_view text) {
  Reply reply;
  reply.body = text;
  std::string out;
  const auto status = static_cast<policy::GrpcStatus>(mixed(text) % policy::grpc_status_count);
  write_call_failure(reply, status, "Tue, 14 Nov 2023 22:13:20 GMT", "Reprise-Reason: x\r\n", out);
  ResponseHead head;
  law(parse_response(out, {}, "POST", head) == Parsed{Progress::complete}, "a failure is a head");
  law(head.bytes == out.size(), "a failure is nothing but a head");
  law(head.fields.size() == 5 && status_of(head.fields) == status, "a failure has its fields and no others");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  judge_boundaries(text);
  judge_timeout(text);
  judge_details(text);
  judge_delay(text);
  judge_trailers(text);
  judge_path(text);
  judge_failure(text);
  return 0;
}
