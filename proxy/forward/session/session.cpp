#include "proxy/forward/session/session.hpp"

#include <boost/asio/co_spawn.hpp>

#include "proxy/forward/exchange/deliver.hpp"
#include "proxy/forward/exchange/exchange_driver.hpp"
#include "proxy/forward/exchange/record.hpp"
#include "proxy/forward/session/discard_body.hpp"
#include "proxy/forward/session/http2_session.hpp"
#include "proxy/forward/session/idle_connection.hpp"
#include "proxy/forward/session/stream_session.hpp"
#include "proxy/http/http1/max_forwards_response.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/message/first_bytes.hpp"
#include "proxy/net/ends/read_head.hpp"

namespace reprise::forward {

using http::Rejection;
using telemetry::LimitHit;

namespace {

// An idle connection returns its memory block after this time without a byte.
constexpr Duration quiet = net::Tick::granule;

bool may_be_http2(std::string_view bytes) { return http::fits_opening(bytes, http::http2_preface); }

}  // namespace

Task<Session::Ending> Session::run() {
  const bool begins_stream = client_.role->mode().streams() != nullptr && !inside_;
  if (begins_stream && !co_await begin_stream()) co_return Ending::over;
  net::Buffer& buffer = client_.buffer;
  for (;;) {
    if (inside_ && inside_->http2) co_return Ending::http2;
    if (buffer.empty()) {
      const Arrived arrived = co_await wait_for_bytes();
      if (arrived != Arrived::bytes) co_return arrived == Arrived::quiet ? Ending::goes_idle : Ending::over;
    }
    if (is_first_ && may_be_http2(buffer.view())) {
      const Opening opening = co_await read_opening();
      if (opening != Opening::http1) co_return opening == Opening::http2 ? Ending::http2 : Ending::over;
    }
    is_first_ = false;
    auto request = client_.begin_request();
    Rejection why{};
    HeadState state = take_head(*request, why);
    if (state == HeadState::partial) state = co_await read_head(*request, why);
    bool again = false;
    if (state == HeadState::whole) {
      const Plan planned =
          plan(client_, inside_ ? &*inside_ : nullptr, client_.begin_body(request->in.head), *request);
      if (std::holds_alternative<Exchanged>(planned)) {
        is_first_ = request->tunnel() != nullptr;
        again = is_first_ ? co_await carry_stream(*request) : co_await serve(*request);
      } else if (const auto* const refused = std::get_if<Rejection>(&planned)) {
        co_await refuse(*request, *refused);
      } else {
        again = co_await respond(*request);
      }
    } else if (state == HeadState::refused) {
      co_await refuse(*request, why);
    }
    client_.end_request(std::move(request));
    if (!again) co_return Ending::over;
    if (buffer.empty()) {
      buffer.clear();
    } else {
      buffer.compact();
    }
  }
}

// Reads the rest of the preface. Bytes that differ from it are read as a request, and rejected (row M2).
Task<Session::Opening> Session::read_opening() {
  net::Stream& stream = client_.stream;
  net::Buffer& buffer = client_.buffer;
  if (!client_.role->settings.http2) co_return Opening::http1;
  stream.limit_read(worker_.snapshot->settings.timers.header);
  while (buffer.size() < http::http2_preface.size() && may_be_http2(buffer.view())) {
    const auto [error, bytes] = co_await stream.read_some(buffer.room());
    if (error && stream.take_limit_hit()) worker_.shared.metrics.count_limit(LimitHit::header);
    if (error) co_return Opening::gone;
    buffer.commit(bytes);
  }
  stream.end_limit();
  co_return may_be_http2(buffer.view()) ? Opening::http2 : Opening::http1;
}

Task<bool> Session::begin_stream() {
  auto request = client_.begin_request();
  request->in.started = net::Tick::now();
  StreamSession stream(client_, *request);
  inside_ = co_await stream.begin(*client_.role->mode().streams());
  client_.end_request(std::move(request));
  if (inside_ && client_.buffer.empty()) client_.buffer.clear();
  co_return inside_.has_value();
}

Task<bool> Session::carry_stream(Request& request) {
  StreamSession stream(client_, request);
  inside_ = co_await stream.carry();
  co_return inside_.has_value();
}

// Returns true if the connection can wait without a session. Returns false if the connection has a TLS link,
// begins as a byte stream, is inside a tunnel, or has a pinned upstream connection.
bool Session::can_wait_alone() const {
  return client_.stream.is_socket() && client_.role->mode().streams() == nullptr && !inside_ &&
         client_.pin.empty();
}

// Waits for the next request. After a tick without a byte, releases the memory block. Then returns `quiet` if
// the connection can wait without a session; otherwise waits until the socket is readable.
Task<Session::Arrived> Session::wait_for_bytes() {
  const bool is_new = !client_.had_request;
  if (worker_.draining && !is_new && !client_.has_pending_request()) co_return Arrived::nothing;
  net::Stream& stream = client_.stream;
  net::Buffer& buffer = client_.buffer;
  const ServedClient::Idle idle(client_);
  stream.limit_read(quiet);
  client_.awaits_first = is_new;
  auto [error, bytes] = co_await stream.read_some(buffer.room());
  client_.awaits_first = false;
  const bool is_quiet = error && stream.take_limit_hit();
  stream.end_limit();
  if (is_quiet) {
    if (worker_.draining && !client_.has_pending_request()) co_return Arrived::nothing;
    buffer.give_back();
    if (can_wait_alone()) co_return Arrived::quiet;
    stream.limit_read(worker_.snapshot->settings.timers.keep_alive);
    IdleClients::Membership membership(worker_.idle_clients, client_, net::Tick::now(), client_.has_place());
    error = co_await stream.wait_readable();
    // Over TLS, the socket may be readable although no data has arrived: there may be only a part of a
    // record, or a record without data. The client is still idle then.
    if (!error) std::tie(error, bytes) = co_await stream.read_some(buffer.room());
    membership.end();
    if (error && stream.take_limit_hit()) worker_.shared.metrics.count_limit(LimitHit::keep_alive);
    stream.end_limit();
  }
  // The drain may have ended the read although a request had arrived before the drain.
  if (error && worker_.draining && client_.has_pending_request())
    std::tie(error, bytes) = co_await stream.read_some(buffer.room());
  if (error) co_return Arrived::nothing;
  buffer.commit(bytes);
  co_return Arrived::bytes;
}

Session::HeadState Session::take_head(Request& request, Rejection& why) {
  http::RequestHead& head = request.in.head;
  const http::Parsed parsed =
      http::parse_request(client_.buffer.view(), request.route.snapshot->head_limits(), head);
  if (const auto* cause = std::get_if<Rejection>(&parsed)) {
    why = *cause;
    return HeadState::refused;
  }
  if (std::get<http::Progress>(parsed) == http::Progress::partial) return HeadState::partial;
  request.in.started = net::Tick::now();
  head.over_http2 = client_.is_websocket;
  client_.buffer.consume(head.bytes);
  return HeadState::whole;
}

Task<Session::HeadState> Session::read_head(Request& request, Rejection& why) {
  net::Stream& stream = client_.stream;
  stream.limit_read(request.route.snapshot->settings.timers.header);
  HeadState state = HeadState::partial;
  const auto take = [&] {
    state = take_head(request, why);
    return state != HeadState::partial;
  };
  if (co_await net::read_head(stream, client_.buffer, request.in.head, take)) {
    if (!stream.take_limit_hit()) co_return HeadState::gone;
    why = Rejection::header_timeout;
    worker_.shared.metrics.count_limit(LimitHit::header);
    co_return HeadState::refused;
  }
  stream.end_limit();
  co_return state;
}

// Returns true if another request may follow on the connection.
Task<bool> Session::serve(Request& request) {
  Served served;
  {
    ServedClient::Watch watch(client_);
    OneExchange one{worker_, request, watch.side()};
    served = co_await exchange(one);
  }
  record(worker_, request, served);
  const bool has_whole_body = request.out.body.complete();
  if (served.keep_alive && has_whole_body) co_return true;
  if (served.keep_alive) co_return co_await discard_rest(request);
  net::Stream& stream = client_.stream;
  if (!stream.open()) co_return false;
  const bool is_cut = served.ending == telemetry::Ending::cut;
  const bool still_sending =
      !has_whole_body || !client_.buffer.empty() || stream.unread() == net::Unread::bytes;
  if (is_cut || (still_sending && served.ending == telemetry::Ending::complete)) co_await client_.linger();
  co_return false;
}

// Discards the rest of the client's body. Skips this during a drain, because a drain does not wait for the
// body. Returns true if another request may follow.
Task<bool> Session::discard_rest(Request& request) {
  if (worker_.draining) co_return false;
  Discarded became = Discarded::unfinished;
  {
    const ServedClient::Idle idle(client_);
    const Duration rest = request.route.snapshot->settings.timers.keep_alive;
    became = co_await discard_body(request.in.head, request.out.body, rest);
  }
  // Sends FIN but keeps reading, because curl retries its request after a FIN, but not after a failed send.
  if (became == Discarded::asked_again) co_await client_.linger();
  co_return became == Discarded::whole;
}

Task<bool> Session::respond(Request& request) {
  const http::RequestHead& head = request.in.head;
  const bool stays =
      !is_last(worker_, request.in) && head.keep_alive() && head.framing.kind == http::Framing::Kind::none;
  const std::string_view connection_field = stays ? "" : "Connection: close\r\n";
  std::string& text = request.responses.head;
  http::write_max_forwards_response(head, worker_.date(), connection_field, text);
  net::Gather pieces;
  pieces.add(text);
  const ErrorCode error =
      co_await client_.stream.write_all(pieces, request.route.snapshot->settings.timers.header);
  co_return !error && stays;
}

Task<void> Session::refuse(Request& request, Rejection cause) {
  net::Gather pieces;
  pieces.add(write_rejection(worker_, request, cause, true));
  if (co_await client_.stream.write_all(pieces, request.route.snapshot->settings.timers.header)) co_return;
  co_await client_.linger();
}

namespace {

// Returns the connection if the client speaks HTTP/2. The memory of this session is free by then.
Task<std::optional<Http2Opening>> run_http1_session(Worker& worker, ClientConnection connection,
                                                    std::optional<InsideStream>& inside) {
  ServedClient client(worker, std::move(connection));
  Session session(client, std::move(inside));
  const Session::Ending ending = co_await session.run();
  std::optional<Http2Opening> opening;
  if (ending == Session::Ending::goes_idle) wait_idle(worker, client.release());
  if (ending == Session::Ending::http2)
    opening = Http2Opening{client.release(), session.take_inside(), std::string(client.buffer.view())};
  co_return opening;
}

}  // namespace

Task<void> run_session(Worker& worker, ClientConnection connection, std::optional<InsideStream> inside) {
  std::optional<Http2Opening> opening = co_await run_http1_session(worker, std::move(connection), inside);
  if (opening) co_await serve_http2(worker, std::move(*opening));
}

void serve(Worker& worker, ClientConnection connection) {
  asio::co_spawn(worker.io, run_session(worker, std::move(connection)), or_abort);
}

}  // namespace reprise::forward
