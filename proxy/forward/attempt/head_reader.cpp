#include "proxy/forward/attempt/head_reader.hpp"

#include <algorithm>

#include "proxy/forward/attempt/http2_lease.hpp"
#include "proxy/http/http1/codings.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http2/websocket.hpp"
#include "proxy/http/retry_hints/hint.hpp"
#include "proxy/net/ends/read_head.hpp"
#include "proxy/net/io/failure.hpp"
#include "proxy/policy/decision/decide.hpp"

namespace reprise::forward {

using policy::Cause;
using policy::Failed;
using policy::Responded;
using policy::Stage;
using telemetry::LimitHit;

namespace {

// Returns the transfer coding that is not supported, or the word of the rule that the head breaks.
std::string_view why_malformed(http::Rejection broken, const http::ResponseHead& head) {
  const bool is_coding = broken == http::Rejection::bad_transfer_encoding ||
                         broken == http::Rejection::unsupported_transfer_encoding;
  const std::string_view coding = is_coding ? http::unsupported_coding(head.fields) : std::string_view();
  return coding.empty() ? http::word(broken) : coding;
}

}  // namespace

void HeadReader::upload_ended(UploadEnd end) {
  if (end == UploadEnd::client_gone || end == UploadEnd::client_stalled) {
    if (end == UploadEnd::client_stalled) worker_.shared.metrics.count_limit(LimitHit::request_idle);
    client_state_ = ClientState::gone;
    stop_.cancel();
  } else if (end == UploadEnd::malformed) {
    client_state_ = ClientState::malformed;
    upstream().cancel();
  } else if (end == UploadEnd::replay_lost) {
    upstream().cancel();
  } else if (taken_ != Taken::outcome) {
    if (end == UploadEnd::upstream_stalled) worker_.shared.metrics.count_limit(LimitHit::request_unread);
    limit_head();
  }
}

// Limits the time to the response head, counted from the last request byte.
void HeadReader::limit_head() {
  const policy::RoutePolicy& policy = *out_.route.policy;
  if (out_.resuming) {
    limit_cause_ = Cause::attempt_timeout;
    upstream().limit_read(std::min({policy.resume.stall, policy.response_timeout,
                                    policy.retry.attempt_timeout.value_or(policy.resume.stall)}));
    return;
  }
  const bool repeatable = out_.may_be_repeated();
  const Instant now = net::Tick::now();
  const policy::HeadLimit limit = policy::head_limit(policy, repeatable, now, deadline_);
  limit_cause_ = limit.cause;
  if (limit.cause == Cause::response_timeout) {
    upstream().limit_read(policy.response_timeout);
  } else if (limit.at == now + *policy.retry.attempt_timeout) {
    upstream().limit_read(*policy.retry.attempt_timeout);
  } else {
    upstream().limit_read_until(limit.at);
  }
}

Failed HeadReader::failed(const ErrorCode& error, UploadEnd upload, const UploadStall& stall) const {
  if (upload == UploadEnd::replay_lost) return {Stage::send, Cause::replay_lost};
  if (stall.ended_attempt()) {
    worker_.shared.metrics.count_limit(LimitHit::request_unread);
    return {Stage::send, Cause::attempt_timeout};
  }
  const bool began = !response_.buffer.empty();
  const bool sending = upload != UploadEnd::sent;
  const Stage stage = began ? Stage::head : (sending ? Stage::send : Stage::await_head);
  const bool limit_hit = upstream().take_limit_hit();
  const Cause cause = limit_hit ? limit_cause_ : net::cause_of(error);
  // While the upload runs, only writes have a time limit. If a write reached this limit, the upstream did not
  // read the request in time. TCP_USER_TIMEOUT in the kernel may end the write a little earlier.
  if (upload == UploadEnd::running && (limit_hit || cause == Cause::keepalive_lost))
    worker_.shared.metrics.count_limit(LimitHit::request_unread);
  if (cause == Cause::cancelled || limit_hit) return {stage, cause};
  if (response_.connection.is_http2()) {
    Failed failed{stage, cause};
    describe_stream_failure(response_.connection.stream().stream().failure(),
                            out_.route.policy->refused_stream, failed);
    return failed;
  }
  return net::failure_of(upstream().refusal(), stage).value_or(Failed{stage, cause});
}

// Over HTTP/2, a head may wait behind the body of another request, so a request without a body is limited
// before it is sent.
void HeadReader::begin(const Upload& upload) {
  if (upload.end() != UploadEnd::running || !out_.body.has_body()) limit_head();
}

// This function is not a coroutine, because allocating a coroutine frame would slow down every request.
Task<ErrorCode> HeadReader::read_on() {
  if (taken_ == Taken::interim) return pass_on_interim();
  return net::read_head(upstream(), response_.buffer, response_.head, [this] {
    taken_ = take_head();
    return taken_ != Taken::partial;
  });
}

std::optional<policy::Outcome> HeadReader::outcome_of(const ErrorCode& error, const Upload& upload,
                                                      const UploadStall& stall) const {
  if (error) return failed(error, upload.end(), stall);
  return taken_ == Taken::outcome ? std::optional(outcome_) : std::nullopt;
}

// Parses the front of the buffer. A complete final head or a malformed head is the attempt's outcome.
HeadReader::Taken HeadReader::take_head() {
  net::Buffer& buffer = response_.buffer;
  http::ResponseHead& head = response_.head;
  if (buffer.empty()) return Taken::partial;
  const http::Parsed parsed =
      http::parse_response(buffer.view(), out_.route.snapshot->head_limits(), out_.in.head.method, head);
  if (const auto* why = std::get_if<http::Rejection>(&parsed)) {
    Failed failed{Stage::head, net::cause_of(*why)};
    if (failed.cause == Cause::malformed_response) failed.why = why_malformed(*why, head);
    outcome_ = failed;
    return Taken::outcome;
  }
  if (std::get<http::Progress>(parsed) == http::Progress::partial) return Taken::partial;
  head.over_http2 = response_.connection.is_http2();
  const bool switching = head.status == 101;
  // The attempt fails if a hedged copy or a resumed download gets a 101, because neither can change the
  // protocol of the client's connection.
  const bool out_of_order =
      switching ? client_ == nullptr || !http::is_offered_upgrade(out_.in.head, to_h2c(out_.in), head)
                : head.status < 200 && !interims_.admit(head.bytes);
  if (out_of_order) {
    outcome_ = Failed{Stage::head, Cause::malformed_response};
    return Taken::outcome;
  }
  // Over HTTP/2, the upstream has accepted an extended CONNECT, which has no key.
  const bool may_be_websocket = out_.in.head.over_http2 && client_ != nullptr && !head.over_http2;
  const std::string_view why =
      may_be_websocket ? http::websocket_fault(out_.in.head, head) : std::string_view();
  if (!why.empty()) {
    Failed failed{Stage::head, Cause::malformed_response};
    failed.why = why;
    outcome_ = failed;
    return Taken::outcome;
  }
  if (head.status < 200 && !switching) {
    in_doubt_ = in_doubt_ || !head.reusable;
    return Taken::interim;
  }
  buffer.consume(head.bytes);
  // HTTP/2 marks the end of every body, as chunks do.
  if (head.over_http2 && head.framing.kind == http::Framing::Kind::until_close) {
    head.framing.kind = http::Framing::Kind::chunked;
    head.reusable = true;
  }
  if (head.status < 400)
    out_.route.carrier()->spoke_1_0 =
        head.minor_version == 0 ? std::optional(net::Tick::now()) : std::nullopt;
  outcome_ = Responded{head.status, http::read_hints(head, net::Clock::wall_nanoseconds() / 1'000'000'000)};
  return Taken::outcome;
}

Task<ErrorCode> HeadReader::pass_on_interim() {
  const bool passed =
      client_ == nullptr || co_await pass_interim(*client_, out_, response_.head, worker_.shared.pseudonym);
  response_.buffer.consume(response_.head.bytes);
  response_.buffer.compact();
  if (passed) {
    taken_ = take_head();
  } else {
    client_state_ = ClientState::gone;
    taken_ = Taken::outcome;
    outcome_ = Failed{Stage::head, Cause::cancelled};
  }
  co_return ErrorCode();
}

}  // namespace reprise::forward
