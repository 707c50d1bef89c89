#include "proxy/forward/attempt/http2_lease.hpp"

#include "proxy/forward/attempt/lease.hpp"
#include "proxy/net/io/failure.hpp"
#include "proxy/policy/decision/gates.hpp"

namespace reprise::forward {

using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

constexpr Duration http1_memory = std::chrono::minutes(10);           // rows M12 and M29
constexpr Duration between_dials_of_calls = std::chrono::seconds(1);  // row M21

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

// Takes a connection that was dialled for a tunnel and has carried nothing (row M6).
std::unique_ptr<net::Stream> take_unused(OneAttempt& one, policy::UpstreamAddress& address) {
  const Route& route = one.out.route;
  net::Upstream& carrier = *route.carrier();
  if (carrier.tls != nullptr) return nullptr;
  auto unused = one.worker.pool.lease_unused(carrier, one.out.recent);
  if (unused == nullptr || unused->is_denied(route.snapshot->filter)) return nullptr;
  address = unused->address();
  auto stream = unused->take_stream();
  stream->set_connect_began(net::Tick::now());
  return stream;
}

// Remembers that the upstream seems not to speak HTTP/2 in clear text. Returns false if the failure may have
// another reason: a single close may be that of a restart (row M21), and one of a connection that was pooled
// shows nothing.
bool note_no_http2(net::Upstream::KnownVersion& version, Cause cause, bool is_fresh) {
  constexpr Duration after_other_bytes = std::chrono::minutes(10);
  constexpr Duration after_closes = std::chrono::seconds(10);
  const Instant now = net::Tick::now();
  const bool is_closed = cause == Cause::closed || cause == Cause::reset;
  if (cause == Cause::not_http2) {
    version = {.http1_until = now + after_other_bytes};
  } else if (is_closed && is_fresh && ++version.closed_in_a_row >= 2) {
    version = {.http1_until = now + after_closes};
  } else {
    return false;
  }
  return true;
}

// Dials, or takes an unused connection and clears `is_fresh`. Returns a null stream if the upstream has
// chosen HTTP/1 over TLS; the connection is then held by the attempt.
Task<net::Dialled> connect_http2(OneAttempt& one, const net::ConnectTime& time, net::Buffer& early,
                                 policy::UpstreamAddress& address, bool& is_fresh) {
  const Route& route = one.out.route;
  net::Upstream& carrier = *route.carrier();
  if (auto unused = take_unused(one, address)) {
    is_fresh = false;
    co_return std::move(unused);
  }
  const bool is_open = one.out.may_use_either();
  DialRequest dial{time, is_open ? net::Protocol::either : net::Protocol::http2, early};
  net::Dialled dialled = co_await dial_for(one, dial, address);
  if (carrier.tls == nullptr || !is_open || std::holds_alternative<Failed>(dialled)) co_return dialled;
  carrier.version.http1_over_tls = !dial.selected_http2;
  if (dial.selected_http2) co_return dialled;
  one.response.buffer = std::move(early);
  hold_connection(one, std::get<std::unique_ptr<net::Stream>>(std::move(dialled)), address);
  co_return std::unique_ptr<net::Stream>();
}

// Dials, and waits for the upstream's SETTINGS. Stores the connection in `ready`. If the request is to be
// sent over HTTP/1 instead, `ready` stays null and the attempt holds the connection.
Task<std::optional<Failed>> dial_http2(OneAttempt& one, std::optional<Instant> deadline,
                                       policy::UpstreamAddress& address,
                                       std::shared_ptr<net::Http2UpstreamConnection>& ready) {
  Worker& worker = one.worker;
  const Route& route = one.out.route;
  net::Upstream& carrier = *route.carrier();
  const Stage stage = carrier.tls == nullptr ? Stage::connect : Stage::tls;
  if (route.is_call && carrier.version.fails_calls()) co_return Failed{stage, Cause::not_http2};
  const net::ConnectTime time(route.policy->connect_timeout, deadline);
  net::Buffer early;
  bool is_fresh = true;
  net::Dialled dialled = co_await connect_http2(one, time, early, address, is_fresh);
  if (const auto* failed = std::get_if<Failed>(&dialled)) co_return *failed;
  auto stream = std::get<std::unique_ptr<net::Stream>>(std::move(dialled));
  if (stream == nullptr) co_return std::nullopt;
  const Instant due = time.end_of_handshake(stream->connect_began());
  auto connection = net::Http2UpstreamConnection::begin(std::move(stream), route.snapshot->head_limits(),
                                                        worker.shared.stream_memory, early.view());
  net::Pause pause(worker.io.get_executor());
  ErrorCode error;
  {
    const net::AttemptCancel::Target target(one.cancel, pause);
    error = co_await connection->ready(due, pause);
  }
  if (!error && !connection->state().going_away()) {
    carrier.version.closed_in_a_row = 0;
    ready = std::move(connection);
    co_return std::nullopt;
  }
  worker.pool.http2(carrier).count_codes(*connection);
  Failed failed{stage, error ? net::cause_of(error) : Cause::goaway};
  if (error == asio::error::timed_out) failed.cause = Cause::connect_timeout;
  if (!error && connection->state().goaway_code() == policy::Http2Code::http_1_1_required)
    failed.cause = Cause::http_1_1_required;
  failed.unprocessed = policy::proves_unprocessed(failed.cause, route.policy->refused_stream);
  connection->close();
  if (route.is_call && failed.cause == Cause::not_http2)
    carrier.version.no_calls_until = net::Tick::now() + between_dials_of_calls;
  if (one.cancel.stopped()) co_return Failed{stage, Cause::cancelled};
  const bool uses_http1 = carrier.tls == nullptr && one.out.may_use_either() && error &&
                          (note_no_http2(carrier.version, failed.cause, is_fresh) || one.out.is_websocket());
  if (uses_http1) co_return co_await connect_for(one, deadline, address);
  co_return failed;
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

// Takes a pooled HTTP/1 connection if the upstream has chosen HTTP/1 before.
bool takes_http1_connection(OneAttempt& one, const policy::Start& start) {
  if (!one.out.may_use_either() || !one.out.route.carrier()->version.http1_over_tls) return false;
  one.response.connection = net::Lease(lease(one.worker, one.out, start));
  return bool(one.response.connection);
}

// Prepares the stream for a WebSocket. Returns false if the upstream does not permit one over HTTP/2.
bool prepare_websocket(net::Http2UpstreamStream& stream, net::Upstream& carrier) {
  if (stream.connection().state().permits_websockets()) {
    stream.ask_websocket();
    return true;
  }
  carrier.version.no_websockets_until = net::Tick::now() + http1_memory;
  return false;
}

}  // namespace

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
    if (stream == nullptr && takes_http1_connection(one, start)) {
      address = one.response.connection.address();
      co_return std::nullopt;
    }
    const bool needs_own = start.fresh || out.may_hold_stream;
    const bool awaits_dial = stream == nullptr && !needs_own && set.awaits_dial(request, turn);
    // The requests that came first may wait for the very stream that this request holds.
    if (stream == nullptr && !awaits_dial && (turn.is_first() || out.may_hold_stream)) {
      if (!start.fresh) stream = set.of_idle(request);
      if (stream == nullptr && set.may_dial(request)) {
        net::Http2Set::Dialling dialling(set, request.client);
        turn.leave();
        std::shared_ptr<net::Http2UpstreamConnection> connection;
        if (const auto failed = co_await dial_http2(one, deadline, address, connection)) co_return failed;
        if (connection == nullptr) co_return std::nullopt;
        const auto shared = set.add(std::move(connection), request, address);
        dialling.succeed();
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
      const Instant due = deadline.value_or(Instant::max());
      Task<bool> waiting = awaits_dial ? turn.wait_for_dial(due) : turn.wait(due);
      goes_on = co_await std::move(waiting);
      one.result.report.queued += net::Tick::now() - began;
    }
    if (!goes_on) co_return Failed{Stage::connect, Cause::cancelled};
    if (deadline && net::Tick::now() >= *deadline) co_return Failed{Stage::connect, Cause::connect_timeout};
  }
  turn.leave();
  if (out.is_websocket() && !prepare_websocket(stream->stream(), *out.route.carrier())) {
    stream.reset();
    co_return co_await connect_for(one, deadline, address);
  }
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
