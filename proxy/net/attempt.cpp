#include "proxy/net/attempt.hpp"

#include <algorithm>

#include "proxy/http/connection_auth.hpp"
#include "proxy/http/rewrite.hpp"
#include "proxy/net/connect.hpp"
#include "proxy/net/head_reader.hpp"
#include "proxy/net/hold.hpp"
#include "proxy/net/lease.hpp"
#include "proxy/net/resume.hpp"
#include "proxy/net/silence.hpp"
#include "proxy/net/upload_stall.hpp"
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
Task<ClientState> frame_for_1_0(Stream& client, Request& request, Stop& stop) {
  if (waits_in_vain(request) && !co_await encourage(client, request)) co_return ClientState::gone;
  stop.aim_at(&request.body);
  const BodyStep step = co_await request.body.count(request.policy->idle_timeout);
  stop.aim_at(nullptr);
  if (step == BodyStep::malformed) co_return ClientState::malformed;
  if (step != BodyStep::end && step != BodyStep::piece) co_return ClientState::gone;
  if (step == BodyStep::end) http::frame_by_length(request.body.received(), request.outgoing);
  co_return ClientState::present;
}

// What the answer says beyond its status, where the route asks for that: its fields at once, its body once
// enough of it is there.
Task<policy::Outcome> judge_content(Loop& loop, const Request& request, const Stop& stop,
                                    std::optional<Instant> deadline, const policy::HoldPolicy& hold,
                                    Answered answered, Answer& answer) {
  if (is_listed_by_head(hold, answer)) {
    answered.body_listed = true;
    co_return answered;
  }
  if (!is_held(hold, answer)) co_return answered;
  const Instant until = hold_limit(hold, deadline);
  const policy::Outcome outcome =
      co_await hold_back(loop.pool, hold, answered, patience_with(request, answer), until, answer);
  // A body that we cut off ourselves did not break.
  if (stop.stopped()) co_return Failed{Stage::body, Cause::cancelled};
  co_return outcome;
}

}  // namespace

Task<AttemptResult> attempt(Loop& loop, Request& request, Stream* client, Stop& stop,
                            const policy::Start& start, std::optional<Instant> deadline, Answer& answer) {
  AttemptResult result;
  answer.clear();
  std::optional<Instant> connect_by = deadline;
  if (client != nullptr && request.body.chunked() && carrier_of(request)->speaks_1_0()) {
    result.client = co_await frame_for_1_0(*client, request, stop);
    if (result.client != ClientState::present) co_return result;
    // What a client takes its time for is not held against the upstream.
    connect_by.reset();
  }
  // Attempt 1 of most requests follows their head at once.
  const Instant begun = start.number == 1 ? request.started : Tick::now();
  answer.connection = lease(loop, request, start);
  if (answer.connection == nullptr) {
    if (const auto failed = co_await connect(loop, request, stop, connect_by, answer)) {
      result.outcome = *failed;
      result.report = report_of_unsent(request, start.number);
      co_return result;
    }
  }
  if (client != nullptr && waits_in_vain(request) && !co_await encourage(*client, request)) {
    answer.clear();
    result.client = ClientState::gone;
    co_return result;
  }
  Stream& stream = answer.connection->stream();
  note_ride(request, start.number, client == nullptr && !request.resuming, *answer.connection);
  const Unread unread = unread_of(*answer.connection);
  if (unread == Unread::closed && answer.buffer.empty()) {
    answer.clear();
    result.outcome = Failed{Stage::send, Cause::closed};
    result.report = report_of_unsent(request, start.number);
    co_return result;
  }
  // A connection on which something came before it was asked carries no second request (row B11).
  const bool spoke_first =
      unread == Unread::bytes || (!answer.connection->reused() && !answer.buffer.empty());
  stop.aim_at(&stream);
  const std::string last = last_lines(request, start.number);
  Upload upload(loop.io.get_executor(), stream, request.body, request.policy->idle_timeout);
  HeadReader reader(loop, request, client, stop, deadline, answer);
  UploadStall stall(loop.tick, request, upload, stream, deadline);
  upload.start(request.outgoing, last, reader);
  Silence silence(request, answer, begun, deadline);
  if (answer.connection->reused()) stop.set_lookout(&silence);
  stall.watch();
  result.outcome = co_await reader.read(upload, stall);
  stall.end();
  stop.set_lookout(nullptr);
  stream.unlimit_read();
  co_await upload.stop();

  result.client = reader.client_state();
  result.report.reused = answer.connection->reused();
  result.report.sent = stream.may_have_sent() ? policy::Sent::maybe : policy::Sent::nothing;
  if (const auto* answered = std::get_if<Answered>(&result.outcome)) {
    request.bound = request.bound || http::authenticates_connection(answer.head);
    if (request.bound) request.pin->hold(*answer.connection);
    answer.number = start.number;
    answer.reusable =
        answer.head.reusable && !reader.in_doubt() && !spoke_first && upload.end() == UploadEnd::sent;
    const policy::HoldPolicy* hold =
        request.resuming ? nullptr : policy::hold_for(*request.policy, *answered);
    if (hold != nullptr)
      result.outcome = co_await judge_content(loop, request, stop, deadline, *hold, *answered, answer);
  } else {
    silence.heed(loop.pool, std::get<Failed>(result.outcome));
    answer.clear();
  }
  stop.aim_at(nullptr);
  // Before a retry is decided on, it has to be known whether the body is really held.
  if (request.body.stored() > 0 && !stop.stopped() && request.policy->retry.on.lists(result.outcome)) {
    stop.aim_at(&request.body);
    co_await request.body.settle();
    stop.aim_at(nullptr);
  }
  result.report.replayable =
      request.body.replayable() && !request.bound && upload.end() != UploadEnd::replay_lost;
  result.report.idempotent = judge_now(request);
  result.report.number = start.number;
  co_return result;
}

}  // namespace reprise::net
