#include "proxy/exchange/attempt.hpp"

#include <algorithm>

#include "proxy/exchange/head_reader.hpp"
#include "proxy/exchange/lease.hpp"
#include "proxy/http/connection_auth.hpp"
#include "proxy/http1/rewrite.hpp"
#include "proxy/message/continuable.hpp"
#include "proxy/message/hold.hpp"
#include "proxy/message/silence.hpp"
#include "proxy/message/upload_stall.hpp"
#include "proxy/policy/decide.hpp"

namespace reprise::net {

using policy::Answered;
using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

// What an attempt's head ends with where the route wants the attempt header; else the head is whole already.
std::string last_lines(const Request& request, unsigned number) {
  if (!request.policy->attempt_header) return {};
  return "Reprise-Attempt: " + std::to_string(number) + "\r\n\r\n";
}

// After the deadline nothing is tried again, so there is nothing to hold for.
Instant hold_limit(const policy::HoldPolicy& hold, std::optional<Instant> deadline) {
  const Instant until = Tick::now() + hold.time;
  return deadline ? std::min(until, *deadline) : until;
}

// An upstream that speaks HTTP/1.0 cannot read chunks: it gets the body once all of it is there. What cannot
// be held whole it gets chunked all the same, and says 411 or 505 for itself (row A10).
Task<ClientState> frame_for_1_0(Stream& client, Request& request, AttemptCancel& cancel) {
  if (waits_in_vain(request) && !co_await encourage(client, request)) co_return ClientState::gone;
  const AttemptCancel::Target target(cancel, request.body);
  const BodyStep step = co_await request.body.count(request.policy->idle_timeout);
  if (step == BodyStep::malformed) co_return ClientState::malformed;
  if (step != BodyStep::end && step != BodyStep::piece) co_return ClientState::gone;
  if (step == BodyStep::end) http::frame_by_length(request.body.received(), request.outgoing);
  co_return ClientState::present;
}

// What the response says beyond its status, where the route asks for that: its fields at once, its body once
// enough of it is there.
Task<policy::Outcome> judge_content(Worker& worker, const Request& request, const AttemptCancel& cancel,
                                    std::optional<Instant> deadline, const policy::HoldPolicy& hold,
                                    Answered answered, Response& response) {
  if (is_listed_by_head(hold, response)) {
    answered.body_listed = true;
    co_return answered;
  }
  if (!is_held(hold, response)) co_return answered;
  const Instant until = hold_limit(hold, deadline);
  const policy::Outcome outcome =
      co_await hold_back(worker.pool, hold, answered, patience_with(request, response), until, response);
  // A body that we cut off ourselves did not break.
  if (cancel.stopped()) co_return Failed{Stage::body, Cause::cancelled};
  co_return outcome;
}

}  // namespace

// What watches an attempt, and what stops it, lives as long as the attempt: in one frame.
// NOLINTNEXTLINE(readability-function-size)
Task<AttemptResult> attempt(Worker& worker, Request& request, Stream* client, AttemptCancel& cancel,
                            const policy::Start& start, std::optional<Instant> deadline, Response& response) {
  AttemptResult result;
  response.clear();
  std::optional<Instant> connect_by = deadline;
  if (client != nullptr && request.body.chunked() && carrier_of(request)->speaks_1_0()) {
    result.client = co_await frame_for_1_0(*client, request, cancel);
    if (result.client != ClientState::present) co_return result;
    // What a client takes its time for is not held against the upstream.
    connect_by.reset();
  }
  // Attempt 1 of most requests follows their head at once.
  const Instant begun = start.number == 1 ? request.started : Tick::now();
  response.connection = lease(worker, request, start);
  if (response.connection == nullptr) {
    if (const auto failed = co_await connect_for(worker, request, cancel, connect_by, response)) {
      result.outcome = *failed;
      result.report = report_of_unsent(request, start.number);
      co_return result;
    }
  }
  if (client != nullptr && waits_in_vain(request) && !co_await encourage(*client, request)) {
    response.clear();
    result.client = ClientState::gone;
    co_return result;
  }
  Stream& stream = response.connection->stream();
  note_connection(request, start.number, client == nullptr && !request.resuming, *response.connection);
  const Unread unread = unread_of(*response.connection);
  if (unread == Unread::closed && response.buffer.empty()) {
    response.clear();
    result.outcome = Failed{Stage::send, Cause::closed};
    result.report = report_of_unsent(request, start.number);
    co_return result;
  }
  // A connection on which something came before it was asked carries no second request (row B11).
  const bool spoke_first =
      unread == Unread::bytes || (!response.connection->reused() && !response.buffer.empty());
  AttemptCancel::Target target(cancel, stream);
  const std::string last = last_lines(request, start.number);
  Upload upload(worker.io.get_executor(), stream, request.body, request.policy->idle_timeout);
  HeadReader reader(worker, request, client, cancel, deadline, response);
  UploadStall stall(worker.tick, request, upload, stream, deadline);
  upload.start(request.outgoing, last, reader);
  Silence silence(request, response, begun, deadline);
  AttemptCancel::Watched watched(cancel, response.connection->reused() ? &silence : nullptr);
  stall.watch();
  result.outcome = co_await reader.read(upload, stall);
  stall.end();
  watched.end();
  stream.unlimit_read();
  co_await upload.stop();

  result.client = reader.client_state();
  result.report.reused = response.connection->reused();
  result.report.sent = stream.may_have_sent() ? policy::Sent::maybe : policy::Sent::nothing;
  if (const auto* answered = std::get_if<Answered>(&result.outcome)) {
    request.bound = request.bound || http::authenticates_connection(response.head);
    if (request.bound) request.pin->hold(*response.connection);
    response.number = start.number;
    response.reusable =
        response.head.reusable && !reader.in_doubt() && !spoke_first && upload.end() == UploadEnd::sent;
    const policy::HoldPolicy* hold =
        request.resuming ? nullptr : policy::hold_for(*request.policy, *answered);
    if (hold != nullptr)
      result.outcome = co_await judge_content(worker, request, cancel, deadline, *hold, *answered, response);
  } else {
    silence.heed(worker.pool, std::get<Failed>(result.outcome));
    response.clear();
  }
  target.end();
  // Before a retry is decided on, it has to be known whether the body is really held.
  if (request.body.stored() > 0 && !cancel.stopped() && request.policy->retry.on.lists(result.outcome)) {
    const AttemptCancel::Target file(cancel, request.body);
    co_await request.body.settle();
  }
  result.report.replayable =
      request.body.replayable() && !request.bound && upload.end() != UploadEnd::replay_lost;
  result.report.idempotent = judge_now(request);
  result.report.number = start.number;
  co_return result;
}

}  // namespace reprise::net
