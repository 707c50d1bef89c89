#include "proxy/forward/attempt/attempt.hpp"

#include <algorithm>

#include "proxy/forward/attempt/head_reader.hpp"
#include "proxy/forward/attempt/http2_lease.hpp"
#include "proxy/forward/attempt/lease.hpp"
#include "proxy/forward/request/call_end.hpp"
#include "proxy/forward/request/continuable.hpp"
#include "proxy/forward/request/dead_peer_check.hpp"
#include "proxy/forward/request/hold.hpp"
#include "proxy/forward/request/upload_stall.hpp"
#include "proxy/http/grpc/timeout.hpp"
#include "proxy/http/http1/reply.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/message/connection_auth.hpp"
#include "proxy/net/io/failure.hpp"
#include "proxy/net/upstream/warning.hpp"
#include "proxy/policy/decision/decide.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::forward {

using policy::Cause;
using policy::Failed;
using policy::Responded;
using policy::Stage;

namespace {

constexpr int switching_protocols = 101;

// Appends what an attempt adds to a gRPC call: what is left of the call's own time limit (row M87), and how
// many attempts came before (row M86). The first attempt sends the limit as the client wrote it.
void append_call_lines(const Outgoing& out, unsigned number, std::string& lines) {
  constexpr std::string_view previous = "grpc-previous-rpc-attempts";
  if (number > 1 && out.route.policy->attempt_header && out.in.head.find(previous) == nullptr)
    lines.append(previous).append(": ").append(std::to_string(number - 1)).append("\r\n");
  if (out.grpc_timeout.empty()) return;
  lines += "grpc-timeout: ";
  if (number == 1) {
    lines += out.grpc_timeout;
  } else {
    lines += http::format_timeout(*out.route.facts.call_deadline - net::Tick::now());
  }
  lines += "\r\n";
}

// Returns the lines that complete this attempt's request head. Empty if `out.head` is complete already.
std::string last_lines(const Worker& worker, const Outgoing& out, unsigned number,
                       const net::Lease& connection) {
  std::string lines;
  if (!out.ends_head_by_attempt()) return lines;
  if (out.via == AttemptVia::over_loopback && connection.address().is_loopback())
    http::append_via(http::version_of(out.in.head), worker.shared.pseudonym, lines);
  if (out.route.policy->attempt_header) lines += "Reprise-Attempt: " + std::to_string(number) + "\r\n";
  if (out.route.is_call) append_call_lines(out, number, lines);
  return lines += "\r\n";
}

// Returns when a held response is released: after `time`, but at the latest at the deadline, because no retry
// can start after the deadline.
Instant hold_limit(Duration time, std::optional<Instant> deadline) {
  const Instant until = net::Tick::now() + time;
  return deadline ? std::min(until, *deadline) : until;
}

// Reads the whole request body to learn its length, because an HTTP/1.0 upstream cannot read chunked bodies.
// A body that is too long to hold is sent chunked; the upstream may then respond 411 or 505 (row A10).
Task<ClientState> frame_for_1_0(OneAttempt& one) {
  Outgoing& out = one.out;
  if (out.never_gets_continue() && !co_await send_continue(*one.client, out)) co_return ClientState::gone;
  const net::AttemptCancel::Target target(one.cancel, out.body);
  const net::BodyStep step = co_await out.body.count(out.route.policy->idle_timeout);
  if (step == net::BodyStep::malformed) co_return ClientState::malformed;
  if (step != net::BodyStep::end && step != net::BodyStep::piece) co_return ClientState::gone;
  if (step == net::BodyStep::end) http::frame_by_length(out.body.received(), out.head);
  co_return ClientState::present;
}

// Evaluates the route's `hold` rules: first on the response's fields, then on the held part of the body.
Task<policy::Outcome> judge_content(OneAttempt& one, const policy::HoldPolicy& hold, Responded responded) {
  Response& response = one.response;
  if (const policy::BodyPredicate* by = listed_by_head(hold, response)) {
    responded.body_listed = true;
    responded.body_refused = by->refused;
    co_return responded;
  }
  if (!is_held(hold, response)) co_return responded;
  const Instant until = hold_limit(hold.time, one.deadline);
  const policy::Outcome outcome = co_await hold_back(one.worker.pool, hold, responded,
                                                     stall_limit_of(one.out, response), until, response);
  // The body ended early because this attempt was cancelled, not because of the upstream.
  if (one.cancel.stopped()) co_return Failed{Stage::body, Cause::cancelled};
  co_return outcome;
}

// Reads how a call ended if that is known before its first message. A call that may be repeated waits a
// little for it (row M72).
Task<policy::Outcome> judge_call(OneAttempt& one, Responded responded) {
  const Outgoing& out = one.out;
  const bool may_wait = responded.status == 200 && out.may_be_repeated();
  const Duration patience =
      may_wait ? policy::peek_time(*out.route.policy, out.body.complete()) : Duration::zero();
  const policy::Outcome outcome =
      co_await read_call_end(responded, may_wait, hold_limit(patience, one.deadline), one.response);
  if (one.cancel.stopped()) co_return Failed{Stage::body, Cause::cancelled};
  co_return outcome;
}

// The I/O objects of one attempt: upload, head reader, stall and liveness watchers. Not a part of the
// coroutine frame, because a frame's memory is reused for the next request only up to 1 KiB.
struct Conversation final : OvertakenRequest {
  /// Precondition: no byte of the request was sent before `begun`.
  Conversation(OneAttempt& one, unsigned number, Instant begun)
      : Conversation(one, one.out, one.response.connection.end(), number, begun) {}

  Upload& upload() override { return sending; }
  void begin(const Outgoing& out) {
    sending.start(out.head, last, reader, out.in.head.never_indexed);
    stall.watch();
    reader.begin(sending);
  }

  std::string last;
  Upload sending;
  HeadReader reader;
  UploadStall stall;
  DeadPeerCheck dead_peer_check;

 private:
  Conversation(OneAttempt& one, Outgoing& out, net::UpstreamEnd& upstream, unsigned number, Instant begun)
      : last(last_lines(one.worker, out, number, one.response.connection)),
        sending(one.worker.io.get_executor(), upstream, out.body, out.route.policy->idle_timeout),
        reader(one),
        stall(one.worker.tick, out, out.head.size() + last.size(), sending, upstream, one.deadline),
        dead_peer_check(out, one.response, begun, one.deadline) {}
};

// Waits until the disk has stored the request body or has failed, because a retry needs the stored body.
Task<void> settle(RequestBody& body, net::AttemptCancel& cancel) {
  const net::AttemptCancel::Target file(cancel, body);
  co_await body.settle();
}

// Returns the failure of an attempt whose connection the upstream had closed before anything was sent. If the
// upstream rejects the client certificate over TLS 1.3, this happens on a fresh connection too.
Failed closed_while_idle(net::Lease& connection) {
  const Failed failed{Stage::send, Cause::closed};
  if (connection.reused()) return failed;
  return net::failure_of(connection.end().refusal(), Stage::send).value_or(failed);
}

// Stores the result of an attempt that sent nothing. Keeps what the report says about HTTP/2.
void note_unsent(OneAttempt& one, unsigned number, const Failed& failed,
                 const policy::UpstreamAddress& address) {
  policy::AttemptReport report = report_of_unsent(one.out, number, address);
  report.http2 = one.result.report.http2;
  report.queued = one.result.report.queued;
  one.result = {failed, report};
}

// Logs the TLS alert with which the upstream ended the connection, at most once a second for each upstream.
void warn_of_refusal(Worker& worker, net::Upstream& upstream, const policy::Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  const bool is_alert = failed != nullptr && (failed->cause == Cause::tls_protocol_error ||
                                              failed->cause == Cause::tls_alert_received);
  if (!is_alert || failed->why.empty()) return;
  std::string text("TLS with ");
  text.append(telemetry::clipped(upstream.account)).append(" ended: TLS alert: ").append(failed->why);
  if (failed->cause == Cause::tls_alert_received) text.append(". ").append(http::client_certificate_advice);
  net::warn_of(worker.shared.log, upstream, text);
}

// Returns true if the upstream sent bytes before it received the request. The connection is then not used for
// another request (row B11).
bool sent_before_request(net::Unread unread, const Response& response) {
  return unread == net::Unread::bytes || (!response.connection.reused() && !response.buffer.empty());
}

// Returns the `hold` settings for this response; null if the response is not held back. A resumed download is
// never held back, because the client has the beginning already.
const policy::HoldPolicy* hold_of(const Outgoing& out, const Responded& responded) {
  return out.resuming ? nullptr : policy::hold_for(*out.route.policy, responded);
}

void note_response(const Conversation& talk, Outgoing& out, unsigned number, bool sent_early,
                   Response& response) {
  out.bound = out.bound || http::authenticates_connection(response.head);
  if (out.bound && response.connection.is_http2()) {
    out.pin->require_http1(*out.route.carrier());
  } else if (out.bound) {
    out.pin->hold(response.connection.connection());
  }
  response.number = number;
  response.overtook = talk.sending.end() == UploadEnd::running;
  response.reusable = response.head.reusable && !talk.reader.in_doubt() && !sent_early &&
                      (response.overtook || talk.sending.end() == UploadEnd::sent);
}

// Returns true if the upload continues after the response head. A 101, or a response that permits a retry,
// stops the upload. After any other response, the code that delivers the response decides when the upload
// stops (row C5).
bool leaves_sending(const policy::RoutePolicy& policy, const policy::Outcome& outcome) {
  const auto* responded = std::get_if<Responded>(&outcome);
  return responded != nullptr && !policy.retry.on.lists(outcome) &&
         !policy.retry.refused.lists(responded->status) && responded->status != switching_protocols;
}

void note_sent(const Response& response, AttemptResult& result) {
  const auto* failed = std::get_if<Failed>(&result.outcome);
  const bool unprocessed = failed != nullptr && failed->unprocessed;
  result.report.reused = response.connection.reused();
  result.report.sent =
      !unprocessed && response.connection.end().may_have_sent() ? policy::Sent::maybe : policy::Sent::nothing;
  result.report.sent_bytes = response.connection.end().sent_bytes();
  result.report.address = response.connection.address();
}

void note_repeatable(const Conversation& talk, const Outgoing& out, unsigned number, AttemptResult& result) {
  result.report.replayable =
      out.body.replayable() && !out.bound && talk.sending.end() != UploadEnd::replay_lost;
  result.report.idempotent = out.judge_now();
  result.report.number = number;
}

// If the upload is still running, passes it to `response`. If the whole request has been sent meanwhile, the
// connection can be pooled as after any other response.
void leave_sending(net::Pool& pool, std::unique_ptr<Conversation> talk, Response& response) {
  const UploadEnd end = talk->sending.end();
  if (end == UploadEnd::running) {
    talk->sending.set_listener(nullptr);
    response.sending = std::move(talk);
    return;
  }
  response.reusable = response.reusable && end == UploadEnd::sent;
  response.overtook = response.overtook && end != UploadEnd::sent;
  if (response.kept) finish_connection(pool, response, false);
}

void note_failure(Worker& worker, const Route& route, const policy::Outcome& outcome, Response& response) {
  note_http1_required(*route.carrier(), outcome);
  warn_of_refusal(worker, *route.carrier(), outcome);
  response.clear();
}

// Dials a connection, or gets a stream. Returns false, and stores the result of the attempt, if there is
// none. A connection that is at hand needs no call, because a coroutine more would slow down every request.
Task<bool> get_connection(OneAttempt& one, const policy::Start& start, std::optional<Instant> connect_by) {
  policy::UpstreamAddress address;
  std::optional<Failed> failed;
  if (one.out.route.is_call && !one.result.report.http2) {
    failed = Failed{Stage::connect, Cause::not_http2};
  } else if (one.result.report.http2) {
    failed = co_await stream_for(one, start, connect_by, address);
  } else {
    failed = co_await connect_for(one, connect_by, address);
  }
  if (!failed) {
    one.result.report.http2 = one.response.connection.is_http2();
    co_return true;
  }
  note_unsent(one, start.number, *failed, address);
  note_http1_required(*one.out.route.carrier(), one.result.outcome);
  co_return false;
}

}  // namespace

Task<void> attempt(OneAttempt& one, const policy::Start& start) {
  auto& [worker, out, client, cancel, deadline, response, result] = one;
  response.clear();
  std::optional<Instant> connect_by = deadline;
  if (client != nullptr && out.body.chunked() && needs_length(out)) {
    result.client = co_await frame_for_1_0(one);
    if (result.client != ClientState::present) co_return;
    // The time that the client needs to send its body does not count as connect time.
    connect_by.reset();
  }
  // Attempt 1 usually starts right after the request head is complete. Using the time at which the head was
  // complete saves a reading of the clock.
  const Instant begun = start.number == 1 ? out.in.started : net::Tick::now();
  result.report.http2 = uses_http2(out);
  if (!result.report.http2 && !out.route.is_call) response.connection = net::Lease(lease(worker, out, start));
  if (!response.connection && !co_await get_connection(one, start, connect_by)) co_return;
  if (client != nullptr && out.never_gets_continue() && !co_await send_continue(*client, out)) {
    response.clear();
    result.client = ClientState::gone;
    co_return;
  }
  out.note_connection(start.number, client == nullptr && !out.resuming, response.connection);
  const net::Unread unread = unread_of(response.connection);
  if (unread == net::Unread::closed && response.buffer.empty()) {
    note_unsent(one, start.number, closed_while_idle(response.connection), response.connection.address());
    co_return note_failure(worker, out.route, result.outcome, response);
  }
  const bool sent_early = sent_before_request(unread, response);
  auto talk = std::make_unique<Conversation>(one, start.number, begun);
  net::AttemptCancel::Target target(cancel, response.connection.end());
  net::AttemptCancel::Watched watched(cancel,
                                      response.connection.reused() ? &talk->dead_peer_check : nullptr);
  talk->begin(out);
  std::optional<policy::Outcome> final_outcome;
  while (!final_outcome)
    final_outcome = talk->reader.outcome_of(co_await talk->reader.read_on(), talk->sending, talk->stall);
  result.outcome = *final_outcome;
  talk->stall.end();
  watched.end();
  response.connection.end().end_limit();
  if (!leaves_sending(*out.route.policy, result.outcome)) co_await talk->sending.stop();
  note_sent(response, result);
  if (const auto* responded = std::get_if<Responded>(&result.outcome)) {
    note_response(*talk, out, start.number, sent_early, response);
    if (out.route.is_call) {
      result.outcome = co_await judge_call(one, *responded);
    } else if (const policy::HoldPolicy* hold = hold_of(out, *responded)) {
      result.outcome = co_await judge_content(one, *hold, *responded);
    }
    if (!leaves_sending(*out.route.policy, result.outcome)) co_await talk->sending.stop();
  } else {
    talk->dead_peer_check.attribute_failure(worker.pool, std::get<Failed>(result.outcome));
    note_failure(worker, out.route, result.outcome, response);
  }
  target.end();
  if (out.body.stored() > 0 && !cancel.stopped() && out.route.policy->retry.on.lists(result.outcome))
    co_await settle(out.body, cancel);
  result.client = talk->reader.client_state();
  note_repeatable(*talk, out, start.number, result);
  leave_sending(worker.pool, std::move(talk), response);
}

}  // namespace reprise::forward
