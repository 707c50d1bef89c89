#include "proxy/net/attempt.hpp"

#include <algorithm>
#include <charconv>

#include "proxy/http/connection_auth.hpp"
#include "proxy/http/hint.hpp"
#include "proxy/http/rewrite.hpp"
#include "proxy/net/connect.hpp"
#include "proxy/net/failure.hpp"
#include "proxy/net/hold.hpp"
#include "proxy/net/interim.hpp"
#include "proxy/net/lease.hpp"
#include "proxy/net/resume.hpp"
#include "proxy/net/silence.hpp"
#include "proxy/net/upload_stall.hpp"
#include "proxy/policy/decide.hpp"

namespace reprise::net {

using observe::LimitHit;
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

/// Reads the answer's head while the request may still be on its way.
class HeadReader final : public UploadListener {
 public:
  HeadReader(Loop& loop, Request& request, Stream* client, Stop& stop, std::optional<Instant> deadline,
             Answer& answer)
      : loop_(loop), request_(request), client_(client), stop_(stop), deadline_(deadline), answer_(answer) {}

  Task<policy::Outcome> read(Upload& upload, UploadStall& stall);
  ClientState client_state() const { return client_state_; }
  /// True where an interim answer had the fields of a body: what it takes for one may come yet (row B1).
  bool in_doubt() const { return in_doubt_; }
  void upload_ended(UploadEnd end) override;

 private:
  enum class Taken : std::uint8_t { partial, interim, outcome };

  void limit_head();
  Failed failed(const ErrorCode&, UploadEnd, const UploadStall&) const;
  Taken take_head();
  Task<bool> pass_on_interim();
  Stream& upstream() { return answer_.connection->stream(); }

  Loop& loop_;
  Request& request_;
  Stream* client_;
  Stop& stop_;
  std::optional<Instant> deadline_;
  Answer& answer_;
  Interims interims_;
  policy::Outcome outcome_;
  Cause limit_cause_ = Cause::response_timeout;
  ClientState client_state_ = ClientState::present;
  bool in_doubt_ = false;
};

void HeadReader::upload_ended(UploadEnd end) {
  if (end == UploadEnd::client_gone || end == UploadEnd::client_stalled) {
    if (end == UploadEnd::client_stalled) loop_.shared.metrics.count_limit(LimitHit::request_idle);
    client_state_ = ClientState::gone;
    stop_.cancel();
  } else if (end == UploadEnd::malformed) {
    client_state_ = ClientState::malformed;
    upstream().cancel();
  } else if (end == UploadEnd::replay_lost) {
    upstream().cancel();
  } else {
    if (end == UploadEnd::upstream_stalled) loop_.shared.metrics.count_limit(LimitHit::request_unread);
    limit_head();
  }
}

// From the last request byte on, the head has to come in time.
void HeadReader::limit_head() {
  const policy::RoutePolicy& policy = *request_.policy;
  if (request_.resuming) {
    limit_cause_ = Cause::attempt_timeout;
    upstream().limit_read(std::min({policy.resume.stall, policy.response_timeout,
                                    policy.retry.attempt_timeout.value_or(policy.resume.stall)}));
    return;
  }
  const bool repeatable = may_be_repeated(request_);
  const Instant now = Tick::now();
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
  Stream& stream = answer_.connection->stream();
  if (upload == UploadEnd::replay_lost) return {Stage::send, Cause::replay_lost};
  if (stall.ended_attempt()) {
    loop_.shared.metrics.count_limit(LimitHit::request_unread);
    return {Stage::send, Cause::attempt_timeout};
  }
  const bool began = !answer_.buffer.empty();
  const bool sending = upload != UploadEnd::sent;
  const Stage stage = began ? Stage::head : (sending ? Stage::send : Stage::await_head);
  const bool limit_hit = stream.take_limit_hit();
  const Cause cause = limit_hit ? limit_cause_ : cause_of(error);
  // While the upload runs, the only limit is that of its writes; the kernel's own (TCP_USER_TIMEOUT) may be
  // a little quicker.
  if (upload == UploadEnd::running && (limit_hit || cause == Cause::keepalive_lost))
    loop_.shared.metrics.count_limit(LimitHit::request_unread);
  return {stage, cause};
}

Task<policy::Outcome> HeadReader::read(Upload& upload, UploadStall& stall) {
  if (upload.end() != UploadEnd::running) limit_head();
  Buffer& buffer = answer_.buffer;
  for (;;) {
    if (buffer.room_left() == 0) buffer.grow();
    const auto [error, bytes] = co_await upstream().read_some(buffer.room());
    if (error) co_return failed(error, upload.end(), stall);
    buffer.commit(bytes);
    Taken taken = take_head();
    while (taken == Taken::interim) {
      if (!co_await pass_on_interim()) co_return Failed{Stage::head, Cause::cancelled};
      taken = take_head();
    }
    if (taken == Taken::outcome) co_return outcome_;
  }
}

// Looks for a whole head at the front of the buffer. A final one, or a bad one, is the attempt's outcome.
HeadReader::Taken HeadReader::take_head() {
  Buffer& buffer = answer_.buffer;
  http::ResponseHead& head = answer_.head;
  if (buffer.empty()) return Taken::partial;
  const http::Parsed parsed =
      http::parse_response(buffer.view(), loop_.head_limits, request_.head.method, head);
  if (const auto* why = std::get_if<http::Cause>(&parsed)) {
    const bool large = *why == http::Cause::header_too_large || *why == http::Cause::too_many_fields;
    outcome_ = Failed{Stage::head, large ? Cause::header_too_large : Cause::malformed_response};
    return Taken::outcome;
  }
  if (std::get<http::Progress>(parsed) == http::Progress::partial) return Taken::partial;
  const bool switching = head.status == 101;
  const bool out_of_order = switching ? !http::is_offered_upgrade(request_.head, head)
                                      : head.status < 200 && !interims_.admit(head.bytes);
  if (out_of_order) {
    outcome_ = Failed{Stage::head, Cause::malformed_response};
    return Taken::outcome;
  }
  if (head.status < 200 && !switching) {
    in_doubt_ = in_doubt_ || !head.reusable;
    return Taken::interim;
  }
  buffer.consume(head.bytes);
  if (head.status < 400)
    carrier_of(request_)->spoke_1_0 = head.minor_version == 0 ? std::optional(Tick::now()) : std::nullopt;
  outcome_ = Answered{head.status, http::read_hints(head, Loop::wall_nanoseconds() / 1'000'000'000)};
  return Taken::outcome;
}

Task<bool> HeadReader::pass_on_interim() {
  const bool passed =
      client_ == nullptr || co_await pass_interim(*client_, request_, answer_.head, loop_.shared.pseudonym);
  answer_.buffer.consume(answer_.head.bytes);
  answer_.buffer.compact();
  if (!passed) client_state_ = ClientState::gone;
  co_return passed;
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
  request.ridden = {request.ridden[1], answer.connection->number()};
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
  if (auto* answered = std::get_if<Answered>(&result.outcome)) {
    request.bound = request.bound || http::authenticates_connection(answer.head);
    if (request.bound) request.pin->hold(*answer.connection);
    answer.number = start.number;
    answer.reusable =
        answer.head.reusable && !reader.in_doubt() && !spoke_first && upload.end() == UploadEnd::sent;
    const policy::HoldPolicy* hold =
        request.resuming ? nullptr : policy::hold_for(*request.policy, *answered);
    if (hold != nullptr && is_listed_by_head(*hold, answer)) {
      answered->body_listed = true;
    } else if (hold != nullptr && is_held(*hold, answer)) {
      const Instant until = hold_limit(*hold, deadline);
      result.outcome =
          co_await hold_back(loop.pool, *hold, *answered, patience_with(request, answer), until, answer);
      // A body that we cut off ourselves did not break.
      if (stop.stopped()) result.outcome = Failed{Stage::body, Cause::cancelled};
    }
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

Task<AttemptResult> attempt_connect(Loop& loop, Request& request, Stop& stop, const policy::Start& start,
                                    std::optional<Instant> deadline, Answer& answer) {
  AttemptResult result;
  result.report.number = start.number;
  answer.clear();
  if (const auto failed = co_await connect(loop, request, stop, deadline, answer)) {
    result.outcome = *failed;
  } else {
    answer.number = start.number;
    result.outcome = Answered{200, {}};
  }
  co_return result;
}

}  // namespace reprise::net
