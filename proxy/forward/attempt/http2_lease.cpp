#include "proxy/forward/attempt/http2_lease.hpp"

#include "proxy/forward/attempt/lease.hpp"
#include "proxy/net/io/failure.hpp"
#include "proxy/policy/decision/gates.hpp"

namespace reprise::forward {

using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

constexpr Duration http1_memory = std::chrono::minutes(10);  // row M29

net::StreamRequest request_of(const OneAttempt& one, const policy::Start& start) {
  const Outgoing& out = one.out;
  net::StreamRequest request{.upstream = out.route.carrier(),
                             .client = out.pin->client(),
                             .freshness = out.freshness,
                             .recent = out.recent,
                             .not_to = {},
                             .filter = out.route.snapshot->filter,
                             .may_hold_stream = out.may_hold_stream};
  if (!start.fresh) request.not_to = addresses_to_avoid(out);
  return request;
}

// Dials, and waits for the upstream's SETTINGS. Stores the connection in `ready`.
Task<std::optional<Failed>> dial_http2(OneAttempt& one, std::optional<Instant> deadline,
                                       policy::UpstreamAddress& address,
                                       std::shared_ptr<net::Http2UpstreamConnection>& ready) {
  Worker& worker = one.worker;
  const Route& route = one.out.route;
  net::Upstream& carrier = *route.carrier();
  const Stage stage = carrier.tls == nullptr ? Stage::connect : Stage::tls;
  const net::ConnectTime time(route.policy->connect_timeout, deadline);
  net::Buffer early;
  net::Dialled dialled = co_await dial_for(one, time, net::Protocol::http2, early, address);
  if (const auto* failed = std::get_if<Failed>(&dialled)) co_return *failed;
  auto stream = std::get<std::unique_ptr<net::Stream>>(std::move(dialled));
  const Instant due = time.end_of_handshake(stream->connect_began());
  ready = net::Http2UpstreamConnection::begin(std::move(stream), route.snapshot->head_limits(),
                                              worker.shared.stream_memory, early.view());
  net::Pause pause(worker.io.get_executor());
  const net::AttemptCancel::Target target(one.cancel, pause);
  const ErrorCode error = co_await ready->ready(due, pause);
  if (!error && !ready->state().going_away()) co_return std::nullopt;
  worker.pool.http2(carrier).count_codes(*ready);
  Failed failed{stage, error ? net::cause_of(error) : Cause::goaway};
  if (error == asio::error::timed_out) failed.cause = Cause::connect_timeout;
  if (!error && ready->state().goaway_code() == policy::Http2Code::http_1_1_required)
    failed.cause = Cause::http_1_1_required;
  failed.unprocessed = policy::proves_unprocessed(failed.cause, route.policy->refused_stream);
  ready->close();
  co_return one.cancel.stopped() ? Failed{stage, Cause::cancelled} : failed;
}

// Counts the attempt in the metrics when this object ends, if the attempt had to wait for a stream.
class WaitCount {
 public:
  explicit WaitCount(const OneAttempt& one) : one_(one) {}
  ~WaitCount() {
    const Duration queued = one_.result.report.queued;
    if (queued > Duration::zero()) one_.worker.shared.metrics.count_http2_wait(queued);
  }
  WaitCount(const WaitCount&) = delete;
  WaitCount& operator=(const WaitCount&) = delete;

 private:
  const OneAttempt& one_;
};

}  // namespace

bool uses_http2(const Outgoing& out) {
  const Route& route = out.route;
  return policy::uses_http2(route.facts, *route.policy, out.bound, false) &&
         !route.carrier()->requires_http1() && !out.pin->requires_http1(*route.carrier());
}

Task<std::optional<Failed>> stream_for(OneAttempt& one, const policy::Start& start,
                                       std::optional<Instant> deadline, policy::UpstreamAddress& address) {
  Worker& worker = one.worker;
  Outgoing& out = one.out;
  net::Http2Set& set = worker.pool.http2(*out.route.carrier());
  net::Http2Set::Turn turn(set, worker.io.get_executor());
  const WaitCount queued(one);
  std::unique_ptr<net::StreamLease> stream;
  for (;;) {
    // The request refers to the list of tried addresses, which each dial replaces.
    const net::StreamRequest request = request_of(one, start);
    if (!start.fresh) stream = set.of_client(request);
    // The requests that came first may wait for the very stream that this request holds.
    if (stream == nullptr && (turn.is_first() || out.may_hold_stream)) {
      if (!start.fresh) stream = set.of_idle(request);
      if (stream == nullptr && set.may_dial(request)) {
        const net::Http2Set::Dialling dialling(set);
        turn.leave();
        std::shared_ptr<net::Http2UpstreamConnection> connection;
        if (const auto failed = co_await dial_http2(one, deadline, address, connection)) co_return failed;
        const auto shared = set.add(std::move(connection), request, address);
        if (const auto expires = end_of_age(*out.route.snapshot, worker.dice)) shared->expire_at(*expires);
        stream = set.of(*shared, request);
      }
      if (stream == nullptr) stream = set.of_least_loaded(request);
    }
    if (stream != nullptr) break;
    bool goes_on = false;
    {
      const net::AttemptCancel::Target target(one.cancel, turn);
      const Instant began = net::Tick::now();
      goes_on = co_await turn.wait(deadline.value_or(Instant::max()));
      one.result.report.queued += net::Tick::now() - began;
    }
    if (!goes_on) co_return Failed{Stage::connect, Cause::cancelled};
    if (deadline && net::Tick::now() >= *deadline) co_return Failed{Stage::connect, Cause::connect_timeout};
  }
  turn.leave();
  address = stream->address();
  one.response.connection = net::Lease(std::move(stream));
  co_return std::nullopt;
}

void describe_stream_failure(const std::optional<http::Http2Failure>& how, policy::RefusedStream refused,
                             Failed& failed) {
  if (failed.cause == Cause::stream_reset && how) failed.why = policy::word(how->code);
  if (how && how->why) failed = {Stage::head, net::cause_of(*how->why)};
  failed.unprocessed = policy::proves_unprocessed(failed.cause, refused) && !(how && how->responded);
}

void note_http1_required(net::Upstream& upstream, const policy::Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  if (failed != nullptr && failed->cause == Cause::http_1_1_required)
    upstream.http1_until = net::Tick::now() + http1_memory;
}

}  // namespace reprise::forward
