#include "proxy/session/session.hpp"

#include "proxy/exchange/deliver.hpp"
#include "proxy/exchange/exchange_driver.hpp"
#include "proxy/exchange/record.hpp"
#include "proxy/http1/max_forwards_response.hpp"
#include "proxy/http1/parse.hpp"
#include "proxy/io/read_head.hpp"
#include "proxy/session/lingering_close.hpp"
#include "proxy/upstream/address.hpp"

namespace reprise::net {

using http::Rejection;
using observe::LimitHit;

namespace {

// After this long without a byte an idle connection gives its block back.
constexpr Duration quiet = Tick::granule;

}  // namespace

Session::Session(Worker& worker, Carrier carrier, std::shared_ptr<const Listener> listener,
                 const ConnectionEnds& ends)
    : worker_(worker),
      stream_(worker.tick, std::move(carrier)),
      pause_(worker.io.get_executor()),
      listener_(std::move(listener)),
      role_(listener_->role),
      ends_(ends) {
  stream_.tune();
  worker_.sessions.add(*this);
  worker_.shared.metrics.client_connected();
}

Session::~Session() {
  worker_.sessions.remove(*this);
  worker_.shared.metrics.client_disconnected();
  worker_.shared.client_connections.fetch_sub(1, std::memory_order_relaxed);
}

Task<void> serve(Worker& worker, Carrier carrier, std::shared_ptr<const Listener> listener,
                 ConnectionEnds ends) {
  Session session(worker, std::move(carrier), std::move(listener), ends);
  co_await session.run();
}

Task<void> Session::run() {
  if (role_->opens_streams() && !co_await begin_stream()) co_return;
  for (;;) {
    if (buffer_.empty() && !co_await wait_for_bytes()) co_return;
    auto request = begin_request();
    Rejection why{};
    Heard heard = take_head(*request, why);
    if (heard == Heard::more) heard = co_await read_head(*request, why);
    Plan planned = Plan::refuse;
    if (heard == Heard::request) planned = plan(*request, why);
    bool again = false;
    if (planned == Plan::exchange) {
      again = request->is_connect() ? co_await carry_stream(*request) : co_await carry_out(*request);
    } else if (planned == Plan::response_here) {
      again = co_await response_here(*request);
    } else if (heard != Heard::nothing) {
      co_await refuse(*request, why);
    }
    request->clear();
    worker_.give_back(std::move(request));
    if (!again) co_return;
    if (buffer_.empty()) {
      buffer_.clear();
    } else {
      buffer_.compact();
    }
  }
}

std::unique_ptr<Request> Session::begin_request() {
  auto request = worker_.lend_request();
  request->client = client_name();
  put_under_newest(*request);
  return request;
}

// What a connection is spoken to in stays as it began.
void Session::put_under_newest(Request& request) {
  if (listener_->role->settings.mode == role_->settings.mode) role_ = listener_->role;
  request.snapshot = worker_.snapshot;
  request.listener = role_->name;
  request.is_last = listener_->closed || worker_.leaving;
}

// An idle client costs no block: after a tick without a byte it waits for readiness alone.
Task<bool> Session::wait_for_bytes() {
  if (worker_.draining) co_return false;
  idle_ = true;
  stream_.limit_read(quiet);
  auto [error, bytes] = co_await stream_.read_some(buffer_.room());
  stream_.unlimit_read();
  if (error && stream_.take_limit_hit()) {
    buffer_.give_back();
    stream_.limit_read(worker_.snapshot->settings.timers.keep_alive);
    worker_.resting.enter(*this, Tick::now());
    error = co_await stream_.wait_readable();
    worker_.resting.leave(*this);
    stream_.unlimit_read();
    if (error && stream_.take_limit_hit()) worker_.shared.metrics.count_limit(LimitHit::keep_alive);
    if (error) co_return false;
    std::tie(error, bytes) = co_await stream_.read_some(buffer_.room());
  }
  idle_ = false;
  if (error) co_return false;
  buffer_.commit(bytes);
  co_return true;
}

Session::Heard Session::take_head(Request& request, Rejection& why) {
  const http::Parsed parsed =
      http::parse_request(buffer_.view(), request.snapshot->head_limits(), request.head);
  if (const auto* cause = std::get_if<Rejection>(&parsed)) {
    why = *cause;
    return Heard::refused;
  }
  if (std::get<http::Progress>(parsed) == http::Progress::partial) return Heard::more;
  request.started = Tick::now();
  buffer_.consume(request.head.bytes);
  return Heard::request;
}

Task<Session::Heard> Session::read_head(Request& request, Rejection& why) {
  stream_.limit_read(request.snapshot->settings.timers.header);
  Heard heard = Heard::more;
  const auto take = [&] {
    heard = take_head(request, why);
    return heard != Heard::more;
  };
  if (co_await net::read_head(stream_, buffer_, request.head, take)) {
    if (!stream_.take_limit_hit()) co_return Heard::nothing;
    why = Rejection::header_timeout;
    worker_.shared.metrics.count_limit(LimitHit::header);
    co_return Heard::refused;
  }
  stream_.unlimit_read();
  co_return heard;
}

std::string_view Session::client_name() {
  if (client_name_.empty()) client_name_ = endpoint_text(ends_.client);
  return client_name_;
}

Task<bool> Session::carry_out(Request& request) {
  ClientWatch watch(worker_.tick, stream_);
  watch_ = &watch;
  if (worker_.draining) watch.shut_down();
  const Served served = co_await exchange(worker_, request, {stream_, buffer_, pause_, watch, tunnel_});
  watch_ = nullptr;
  record(worker_, request, served);
  if (served.inside) co_return co_await go_inside(request);
  if (served.keep_alive) co_return true;
  const bool answered = stream_.open() && served.ending == observe::Ending::answered && !request.is_connect();
  const bool still_sending =
      answered && (!request.body.complete() || !buffer_.empty() || stream_.unread() == Unread::bytes);
  if (still_sending) co_await lingering_close(stream_, buffer_);
  co_return false;
}

// Max-Forwards has run out, so the response is ours (RFC 9110 7.6.2).
Task<bool> Session::response_here(Request& request) {
  const bool stays =
      !request.is_last && request.head.keep_alive() && request.head.framing.kind == http::Framing::Kind::none;
  const std::string_view connection_field = stays ? "" : "Connection: close\r\n";
  http::write_response_here(request.head, worker_.date(), connection_field, request.response_head);
  Gather pieces;
  pieces.add(request.response_head);
  const ErrorCode error = co_await stream_.write_all(pieces, request.snapshot->settings.timers.header);
  co_return !error && stays;
}

Task<void> Session::refuse(Request& request, Rejection cause) {
  worker_.shared.metrics.count_rejection(static_cast<std::size_t>(cause));
  const http::Reply reply = http::rejection_reply(cause, worker_.shared.pseudonym);
  log_rejection(worker_, request, reply, cause);
  append_reason(reply.reason, request.response_fields);
  http::write_reply(reply, worker_.date(), request.response_fields, true, request.head.method == "HEAD",
                    request.response_head);
  Gather pieces;
  pieces.add(request.response_head);
  if (co_await stream_.write_all(pieces, request.snapshot->settings.timers.header)) co_return;
  co_await lingering_close(stream_, buffer_);
}

void Session::drain() {
  if (tunnel_ != nullptr) {
    tunnel_->drain();
  } else if (watch_ != nullptr) {
    watch_->shut_down();
  } else if (idle_) {
    stream_.cancel();
  }
}

bool Session::close_for_room() {
  if (stream_.unread() == Unread::bytes) return false;
  worker_.shared.metrics.count_limit(LimitHit::room);
  stream_.close();
  return true;
}

void Session::abort() {
  if (watch_ != nullptr) watch_->report_reset();
  stream_.cancel();
}

}  // namespace reprise::net
