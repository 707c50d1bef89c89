#include "proxy/forward/session/session.hpp"

#include <boost/asio/co_spawn.hpp>

#include "proxy/forward/exchange/deliver.hpp"
#include "proxy/forward/exchange/exchange_driver.hpp"
#include "proxy/forward/exchange/record.hpp"
#include "proxy/forward/session/discard_body.hpp"
#include "proxy/forward/session/lingering_close.hpp"
#include "proxy/forward/session/resting_client.hpp"
#include "proxy/http/http1/max_forwards_response.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/net/io/read_head.hpp"
#include "proxy/net/upstream/address.hpp"

namespace reprise::forward {

using http::Rejection;
using telemetry::LimitHit;

namespace {

// After this long without a byte an idle connection gives its block back.
constexpr Duration quiet = net::Tick::granule;

}  // namespace

ClientPlace place_of_client(Shared& shared) {
  shared.metrics.client_connected();
  return ClientPlace(&shared);
}

Session::Session(Worker& worker, ClientConnection connection)
    : worker_(worker),
      stream_(worker.tick, std::move(connection.carrier)),
      pause_(worker.io.get_executor()),
      listener_(std::move(connection.listener)),
      role_(std::move(connection.role)),
      ends_(connection.ends),
      place_(std::move(connection.place)),
      took_risk_of_(connection.took_risk_of),
      had_request_(connection.had_request) {
  worker_.sessions.add(*this);
}

Session::~Session() { worker_.sessions.remove(*this); }

ClientConnection Session::release() {
  return {stream_.release(), listener_, role_, ends_, std::move(place_), took_risk_of_, had_request_};
}

Task<Session::Ending> Session::run() {
  if (role_->opens_streams() && !co_await begin_stream()) co_return Ending::over;
  for (;;) {
    if (buffer_.empty()) {
      const Came came = co_await wait_for_bytes();
      if (came != Came::bytes) co_return came == Came::quiet ? Ending::rests : Ending::over;
    }
    auto request = begin_request();
    Rejection why{};
    Heard heard = take_head(*request, why);
    if (heard == Heard::more) heard = co_await read_head(*request, why);
    Plan planned = Plan::refuse;
    if (heard == Heard::request) planned = plan(*request, why);
    bool again = false;
    if (planned == Plan::exchange) {
      again = request->is_connect() ? co_await carry_stream(*request) : co_await carry_out(*request);
    } else if (planned == Plan::respond) {
      again = co_await respond(*request);
    } else if (heard != Heard::nothing) {
      co_await refuse(*request, why);
    }
    request->clear();
    worker_.give_back(std::move(request));
    if (!again) co_return Ending::over;
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
  request.listener_closed = &listener_->closed;
}

// A connection of its own protocol, or with an upstream's
// connection of its own, has more to keep than a socket.
bool Session::can_wait_alone() const {
  return stream_.is_socket() && !role_->opens_streams() && !inside_ && pin_.empty();
}

// A request that has come, and that no read has told of yet, is not closed over.
bool Session::has_asked() { return stream_.unread() == net::Unread::bytes; }

// An idle client costs no block: after a tick without a byte it waits for readiness alone, a plain one
// without its session.
Task<Session::Came> Session::wait_for_bytes() {
  const bool is_new = !had_request_;
  if (worker_.draining && !is_new && !has_asked()) co_return Came::nothing;
  const net::GuardedPointer<net::Stream>::Guard idle(idle_, &stream_);
  stream_.limit_read(quiet);
  awaits_first_ = is_new;
  auto [error, bytes] = co_await stream_.read_some(buffer_.room());
  awaits_first_ = false;
  const bool is_quiet = error && stream_.take_limit_hit();
  stream_.end_limit();
  if (is_quiet) {
    if (worker_.draining && !has_asked()) co_return Came::nothing;
    buffer_.give_back();
    if (can_wait_alone()) co_return Came::quiet;
    stream_.limit_read(worker_.snapshot->settings.timers.keep_alive);
    IdleClients::Stay stay(worker_.resting, *this, net::Tick::now());
    error = co_await stream_.wait_readable();
    // Over TLS that may be a part of a record, or one without data: the client rests on.
    if (!error) std::tie(error, bytes) = co_await stream_.read_some(buffer_.room());
    stay.end();
    if (error && stream_.take_limit_hit()) worker_.shared.metrics.count_limit(LimitHit::keep_alive);
    stream_.end_limit();
  }
  // Drained, and yet it has asked before its end was seen.
  if (error && worker_.draining && has_asked())
    std::tie(error, bytes) = co_await stream_.read_some(buffer_.room());
  if (error) co_return Came::nothing;
  buffer_.commit(bytes);
  co_return Came::bytes;
}

Session::Heard Session::take_head(Request& request, Rejection& why) {
  const http::Parsed parsed =
      http::parse_request(buffer_.view(), request.snapshot->head_limits(), request.head);
  if (const auto* cause = std::get_if<Rejection>(&parsed)) {
    why = *cause;
    return Heard::refused;
  }
  if (std::get<http::Progress>(parsed) == http::Progress::partial) return Heard::more;
  request.started = net::Tick::now();
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
  stream_.end_limit();
  co_return heard;
}

std::string_view Session::client_name() {
  if (client_name_.empty()) client_name_ = net::endpoint_text(ends_.client);
  return client_name_;
}

Task<bool> Session::carry_out(Request& request) {
  net::ClientWatch watch(worker_.tick, stream_,
                         [this] { departed_.emplace(worker_.departed, *this, net::Tick::now()); });
  net::GuardedPointer<net::ClientWatch>::Guard watched(watch_, &watch);
  if (worker_.draining) watch.shut_down();
  const Served served = co_await exchange(worker_, request, {stream_, buffer_, pause_, watch, tunnel_});
  watched.end();
  departed_.reset();
  record(worker_, request, served);
  if (served.inside) co_return co_await go_inside(request);
  if (served.keep_alive && request.body.complete()) co_return true;
  if (served.keep_alive) co_return co_await read_rest(request);
  if (!stream_.open() || request.is_connect()) co_return false;
  const bool is_cut = served.ending == telemetry::Ending::cut;
  const bool still_sending =
      !request.body.complete() || !buffer_.empty() || stream_.unread() == net::Unread::bytes;
  if (is_cut || (still_sending && served.ending == telemetry::Ending::answered)) co_await linger();
  co_return false;
}

// Whoever drains waits for no client that has its response.
Task<void> Session::linger() {
  const net::GuardedPointer<net::Stream>::Guard idle(idle_, &stream_);
  co_await lingering_close(stream_, buffer_, worker_.draining ? net::Tick::granule : linger_silence);
}

// Whoever drains does not wait for it.
Task<bool> Session::read_rest(Request& request) {
  if (worker_.draining) co_return false;
  Discarded became = Discarded::unfinished;
  {
    const net::GuardedPointer<net::Stream>::Guard idle(idle_, &stream_);
    became = co_await discard_body(request, request.snapshot->settings.timers.keep_alive);
  }
  // curl tries again after a FIN, and not where its sending fails.
  if (became == Discarded::asked_again) co_await linger();
  co_return became == Discarded::whole;
}

// Max-Forwards has run out, so the response is ours (RFC 9110 7.6.2).
Task<bool> Session::respond(Request& request) {
  const bool stays = !is_last(worker_, request) && request.head.keep_alive() &&
                     request.head.framing.kind == http::Framing::Kind::none;
  const std::string_view connection_field = stays ? "" : "Connection: close\r\n";
  http::write_max_forwards_response(request.head, worker_.date(), connection_field, request.response_head);
  net::Gather pieces;
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
  net::Gather pieces;
  pieces.add(request.response_head);
  if (co_await stream_.write_all(pieces, request.snapshot->settings.timers.header)) co_return;
  co_await linger();
}

void Session::drain() {
  if (const OpenTunnel* const open = tunnel_.get()) {
    open->tunnel.drain();
  } else if (net::ClientWatch* const watch = watch_.get()) {
    watch->shut_down();
  } else if (net::Stream* const idle = idle_.get(); idle != nullptr && !awaits_first_) {
    idle->end_read();
  }
}

void Session::judge(const net::AddressFilter& filter) {
  const OpenTunnel* const open = tunnel_.get();
  if (open == nullptr || !net::is_denied(filter, open->upstream, open->address)) return;
  const std::string text = "the tunnel to " + http::authority_text(open->upstream.host, open->upstream.port) +
                           " is closed: security.deny has its address since the reload";
  worker_.shared.log.message(config::LogLevel::warn, text, net::Clock::wall_nanoseconds());
  open->tunnel.deny();
}

bool Session::close_for_room() {
  if (!departed_ && has_asked()) return false;
  worker_.shared.metrics.count_limit(LimitHit::room);
  if (departed_) {
    abort();
  } else {
    stream_.close();
  }
  return true;
}

void Session::abort() {
  if (const OpenTunnel* const open = tunnel_.get()) open->tunnel.abort();
  if (net::ClientWatch* const watch = watch_.get()) watch->report_reset();
  stream_.cancel();
}

namespace {

Task<void> run_session(Worker& worker, ClientConnection connection) {
  Session session(worker, std::move(connection));
  if (co_await session.run() == Session::Ending::rests) rest(worker, session.release());
}

}  // namespace

void serve(Worker& worker, ClientConnection connection) {
  asio::co_spawn(worker.io, run_session(worker, std::move(connection)), or_abort);
}

}  // namespace reprise::forward
