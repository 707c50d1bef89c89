#include "proxy/net/attempt.hpp"

#include <charconv>

#include "proxy/http/date.hpp"
#include "proxy/net/dial.hpp"
#include "proxy/net/failure.hpp"
#include "proxy/net/interim.hpp"
#include "proxy/net/upload.hpp"
#include "proxy/policy/decide.hpp"

namespace reprise::net {

using policy::Answered;
using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

Task<std::optional<Failed>> connect(Loop& loop, Request& request, Watch& watch, const policy::Start& start,
                                    Answer& answer) {
  if (!start.fresh) {
    const bool repeatable = policy::is_repeatable(request.facts, *request.policy, true);
    answer.connection = loop.pool.lease(*request.upstream, repeatable ? Freshness::any : Freshness::recent);
    if (answer.connection != nullptr) co_return std::nullopt;
  }
  Dialled dialled = co_await dial(loop, request.host, request.port, request.policy->connect_timeout, watch);
  if (const auto* failed = std::get_if<Failed>(&dialled)) co_return *failed;
  answer.connection = std::make_unique<UpstreamConnection>(
      loop.pool, request.upstream, std::get<std::unique_ptr<Stream>>(std::move(dialled)));
  co_return std::nullopt;
}

void write_last_lines(Request& request, unsigned number) {
  request.last_lines.clear();
  if (request.policy->attempt_header) {
    request.last_lines.append("Reprise-Attempt: ").append(std::to_string(number)).append("\r\n");
  }
  request.last_lines.append("\r\n");
}

/// Reads the answer's head while the request may still be on its way.
class HeadReader final : public UploadListener {
 public:
  HeadReader(Loop& loop, Request& request, Stream& client, Watch& watch, std::optional<Instant> deadline,
             Answer& answer)
      : loop_(loop),
        request_(request),
        client_(client),
        watch_(watch),
        deadline_(deadline),
        answer_(answer) {}

  Task<policy::Outcome> read(Upload& upload);
  ClientState client_state() const { return client_state_; }
  void upload_ended(UploadEnd end) override;

 private:
  void limit_head();
  Failed failed(const ErrorCode&, UploadEnd) const;
  Task<std::optional<policy::Outcome>> take_head(bool& again);
  Stream& upstream() { return answer_.connection->stream(); }

  Loop& loop_;
  Request& request_;
  Stream& client_;
  Watch& watch_;
  std::optional<Instant> deadline_;
  Answer& answer_;
  Interims interims_;
  Cause limit_cause_ = Cause::response_timeout;
  ClientState client_state_ = ClientState::present;
};

void HeadReader::upload_ended(UploadEnd end) {
  if (end == UploadEnd::client_gone) {
    client_state_ = ClientState::gone;
    watch_.report_reset();
  } else if (end == UploadEnd::malformed) {
    client_state_ = ClientState::malformed;
    upstream().cancel();
  } else {
    limit_head();
  }
}

// From the last request byte on, the head has to come in time.
void HeadReader::limit_head() {
  const policy::RoutePolicy& policy = *request_.policy;
  policy::Facts facts = request_.facts;
  facts.idempotent = judge_now(request_);
  const bool repeatable = policy::is_repeatable(facts, policy, request_.body.replayable());
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

Failed HeadReader::failed(const ErrorCode& error, UploadEnd upload) const {
  Stream& stream = answer_.connection->stream();
  const bool began = !answer_.buffer.empty();
  const bool sending = upload != UploadEnd::sent;
  const Stage stage = began ? Stage::head : (sending ? Stage::send : Stage::await_head);
  if (stream.take_limit_hit()) return {stage, limit_cause_};
  return {stage, cause_of(error)};
}

Task<policy::Outcome> HeadReader::read(Upload& upload) {
  if (upload.end() != UploadEnd::running) limit_head();
  for (;;) {
    bool again = false;
    if (const auto outcome = co_await take_head(again)) co_return *outcome;
    if (again) continue;
    Buffer& buffer = answer_.buffer;
    if (buffer.room_left() == 0) buffer.grow();
    const ReadResult read = co_await upstream().read_some(buffer.room());
    if (read.error) co_return failed(read.error, upload.end());
    buffer.commit(read.bytes);
  }
}

// A whole head at the front of the buffer: an interim one is passed on, a final one ends the attempt.
Task<std::optional<policy::Outcome>> HeadReader::take_head(bool& again) {
  Buffer& buffer = answer_.buffer;
  if (buffer.empty()) co_return std::nullopt;
  http::ResponseHead& head = answer_.head;
  const http::Parsed parsed =
      http::parse_response(buffer.view(), loop_.head_limits, request_.head.method, head);
  if (const auto* why = std::get_if<http::Cause>(&parsed)) {
    const bool large = *why == http::Cause::header_too_large || *why == http::Cause::too_many_fields;
    co_return Failed{Stage::head, large ? Cause::header_too_large : Cause::malformed_response};
  }
  if (std::get<http::Progress>(parsed) == http::Progress::partial) co_return std::nullopt;
  if (head.status == 101 && !http::is_offered_upgrade(request_.head, head)) co_return Failed{Stage::head, Cause::malformed_response};
  if (head.status >= 200 || head.status == 101) {
    buffer.consume(head.bytes);
    co_return Answered{head.status, http::read_hints(head, Loop::wall_nanoseconds() / 1'000'000'000)};
  }
  if (!interims_.admit(head.bytes)) co_return Failed{Stage::head, Cause::malformed_response};
  const bool passed = co_await pass_interim(client_, request_, head, loop_.shared.pseudonym);
  buffer.consume(head.bytes);
  buffer.compact();
  again = true;
  if (passed) co_return std::nullopt;
  client_state_ = ClientState::gone;
  co_return Failed{Stage::head, Cause::cancelled};
}

}  // namespace

Task<AttemptResult> attempt(Loop& loop, Request& request, Stream& client, Watch& watch,
                            const policy::Start& start, std::optional<Instant> deadline, Answer& answer) {
  AttemptResult result;
  answer.clear();
  if (const auto failed = co_await connect(loop, request, watch, start, answer)) {
    result.outcome = *failed;
    result.report = {false, policy::Sent::nothing, request.body.replayable(), judge_now(request)};
    co_return result;
  }
  Stream& stream = answer.connection->stream();
  watch.set_attempt(&stream);
  write_last_lines(request, start.number);
  Upload upload(loop.io.get_executor(), stream, request.body, request.policy->idle_timeout);
  HeadReader reader(loop, request, client, watch, deadline, answer);
  upload.start(request.outgoing, request.last_lines, reader);
  result.outcome = co_await reader.read(upload);
  stream.unlimit_read();
  co_await upload.stop();
  watch.set_attempt(nullptr);

  result.client = reader.client_state();
  result.report.reused = answer.connection->reused();
  result.report.sent = stream.accepted() > 0 ? policy::Sent::maybe : policy::Sent::nothing;
  result.report.replayable = request.body.replayable();
  result.report.idempotent = judge_now(request);
  if (std::holds_alternative<Failed>(result.outcome)) {
    answer.clear();
  } else {
    answer.number = start.number;
    answer.reusable = answer.head.reusable && upload.end() == UploadEnd::sent;
  }
  co_return result;
}

Task<AttemptResult> attempt_connect(Loop& loop, Request& request, Watch& watch, const policy::Start& start,
                                    Answer& answer) {
  AttemptResult result;
  answer.clear();
  const policy::Start always_fresh{start.number, true};
  if (const auto failed = co_await connect(loop, request, watch, always_fresh, answer)) {
    result.outcome = *failed;
  } else {
    answer.number = start.number;
    result.outcome = Answered{200, {}};
  }
  co_return result;
}

}  // namespace reprise::net
