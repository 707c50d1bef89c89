#include "proxy/forward/session/http2_session.hpp"

#include <boost/asio/co_spawn.hpp>
#include <cassert>

#include "proxy/forward/exchange/deliver.hpp"
#include "proxy/forward/exchange/exchange_driver.hpp"
#include "proxy/forward/exchange/record.hpp"
#include "proxy/forward/session/plan.hpp"
#include "proxy/forward/session/session.hpp"
#include "proxy/http/grpc/call.hpp"
#include "proxy/http/http1/max_forwards_response.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/net/streams/count_codes.hpp"
#include "proxy/net/streams/http2_client_link.hpp"

namespace reprise::forward {

using http::Rejection;
using telemetry::Http2Side;

/// One stream while it is served.
class Http2Session::ServedStream {
 public:
  ServedStream(Http2Session& session, http::StreamId id)
      : session_(session),
        end_(session.connection_, id),
        pause_(session.worker.io.get_executor()),
        next_(std::exchange(session.served_, this)) {
    if (next_ != nullptr) next_->previous_ = this;
  }
  ~ServedStream() { leave_list(); }
  ServedStream(const ServedStream&) = delete;
  ServedStream& operator=(const ServedStream&) = delete;

  /// Removes this object from the session's list. Afterwards, the session may be destroyed first.
  void leave_list() {
    if (!std::exchange(is_listed_, false)) return;
    (previous_ != nullptr ? previous_->next_ : session_.served_) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }

  Task<void> serve(Request&);
  net::ClientWatch* watch() const { return watch_.get(); }
  ServedStream* next() const { return next_; }

 private:
  Task<void> exchange_with_upstream(Request&);
  Task<void> refuse(Request&, Rejection);
  Task<void> respond(Request&);
  Task<void> send(const Request&, std::string_view text);

  Http2Session& session_;
  std::string head_;
  std::string never_indexed_;
  net::Http2ClientStream end_;
  net::Pause pause_;
  net::GuardedPointer<net::ClientWatch> watch_;
  ServedStream* previous_ = nullptr;
  ServedStream* next_;
  bool is_listed_ = true;
};

Task<void> Http2Session::ServedStream::serve(Request& request) {
  if (const auto too_large = end_.too_large()) {
    request.in.view.is_call = end_.is_call();
    co_return co_await refuse(request, *too_large);
  }
  head_ = end_.take_head();
  never_indexed_ = end_.never_indexed();
  http::RequestHead& head = request.in.head;
  const http::Parsed parsed = http::parse_request(head_, request.route.snapshot->head_limits(), head);
  request.in.started = net::Tick::now();
  head.over_http2 = true;
  head.never_indexed = never_indexed_;
  request.in.view.is_call = http::is_grpc_call(head);
  if (const auto* cause = std::get_if<Rejection>(&parsed)) co_return co_await refuse(request, *cause);
  if (end_.connect_protocol() != http::ConnectProtocol::none)
    co_return co_await refuse(request, Rejection::connect_protocol);
  const Plan planned = plan(session_, session_.inside(), end_, request);
  if (const auto* const refused = std::get_if<Rejection>(&planned)) {
    co_await refuse(request, *refused);
  } else if (std::holds_alternative<RespondedHere>(planned)) {
    co_await respond(request);
  } else {
    co_await exchange_with_upstream(request);
  }
}

Task<void> Http2Session::ServedStream::exchange_with_upstream(Request& request) {
  Worker& worker = session_.worker;
  Served served;
  {
    net::ClientWatch watch(worker.tick, end_);
    const net::GuardedPointer<net::ClientWatch>::Guard guard(watch_, &watch);
    if (worker.draining) watch.shut_down();
    OneExchange one{worker, request, {end_, pause_, watch}};
    served = co_await exchange(one);
  }
  record(worker, request, served);
}

Task<void> Http2Session::ServedStream::send(const Request& request, std::string_view text) {
  const std::size_t body = text.find("\r\n\r\n") + 4;
  end_.add_head(text.substr(0, body), false);
  if (body < text.size()) end_.add_piece(text.substr(body));
  end_.add_end({});
  static_cast<void>(co_await end_.send_rest(request.route.snapshot->settings.timers.header));
}

Task<void> Http2Session::ServedStream::respond(Request& request) {
  std::string& text = request.responses.head;
  http::write_max_forwards_response(request.in.head, session_.worker.date(), "", text);
  co_await send(request, text);
}

Task<void> Http2Session::ServedStream::refuse(Request& request, Rejection cause) {
  co_await send(request, write_rejection(session_.worker, request, cause, false));
}

Http2Session::Http2Session(Worker& thread, ClientConnection connection, std::optional<InsideStream> inside)
    : Client(thread, connection),
      stream_(std::make_unique<net::Stream>(thread.tick, std::move(connection.carrier))),
      inside_(std::move(inside)),
      changes_(thread.io.get_executor()),
      place_(std::move(connection.place)) {
  worker.sessions.add(*this);
  worker.shared.metrics.http2_connections_changed(Http2Side::client, 1);
}

// If the process ends at once, the coroutines of the streams may be destroyed after this object.
Http2Session::~Http2Session() {
  while (served_ != nullptr) served_->leave_list();
  if (connection_ != nullptr) connection_->forget_owner();
  worker.shared.metrics.http2_connections_changed(Http2Side::client, -1);
  worker.sessions.remove(*this);
}

// Inside a CONNECT, the upstream is known, so only intercepted requests need their authority compared.
http::TargetForm Http2Session::target_form() const {
  if (inside_)
    return inside_->kind == RequestKind::intercepted ? http::TargetForm::absolute : http::TargetForm::origin;
  return role->mode().requests()->http2_target_form(role->settings);
}

Task<void> Http2Session::run(std::string_view early) {
  const net::Snapshot& snapshot = *worker.snapshot;
  connection_ = std::make_shared<net::Http2ClientConnection>(
      std::move(stream_), target_form(),
      http::ClientWire::Limits{snapshot.head_limits(), snapshot.settings.limits.streams},
      worker.shared.stream_memory, *this);
  connection_->begin(early);
  while (serving_ > 0 || (connection_->is_open() && (!is_leaving() || connection_->open_streams() > 0))) {
    if (net::Tick::now() >= head_due()) {
      worker.shared.metrics.count_limit(telemetry::LimitHit::header);
      connection_->close();
    }
    if (must_end()) say_goodbye();
    const Instant next = std::min(refuse_new_streams(), head_due());
    if (serving_ > 0) {
      co_await changes_.until(next);
    } else if (is_leaving()) {
      // The last bytes of a tunnel wait for the client's window, see Http2ClientLink::close.
      co_await changes_.until(net::Tick::now() + net::Tick::granule);
    } else {
      co_await wait_idle();
    }
    count_events();
  }
  count_events();  // the first bytes may have ended the connection
  if (const auto& flood = connection_->state().flood()) worker.shared.metrics.count_http2_flood(*flood);
  if (worker.draining) connection_->linger_for(net::Tick::granule);
  connection_->close();
  while (!connection_->is_gone()) co_await changes_.until(Instant::max());
}

Task<void> Http2Session::wait_idle() {
  const Instant due = leave_by_.value_or(net::Tick::now() + worker.snapshot->settings.timers.keep_alive);
  IdleClients::Membership idle(worker.idle_clients, *this, net::Tick::now(), place_ != nullptr);
  while (serving_ == 0 && connection_->is_open() && !is_leaving() &&
         net::Tick::now() < std::min(due, head_due())) {
    const Instant next = std::min(head_due(), leave_by_.value_or(due));
    co_await changes_.until(std::min(due, next));
    count_events();
  }
  idle.end();
  if (serving_ > 0 || leave_by_ || net::Tick::now() < due) co_return;
  worker.shared.metrics.count_limit(telemetry::LimitHit::keep_alive);
  say_goodbye();
}

// During a drain that can be undone, new connections still arrive. A client that got GOAWAY before its first
// request would connect again and again.
bool Http2Session::must_end() const {
  return worker.draining || listener->closed || (worker.leaving && has_served_);
}

Instant Http2Session::refuse_new_streams() {
  if (!leave_by_ || !connection_->is_open()) return Instant::max();
  if (!is_leaving()) return *leave_by_;
  connection_->say_goodbye();
  return Instant::max();
}

Instant Http2Session::head_due() const {
  const auto& since = connection_->state().head_since();
  if (!since || !connection_->is_open()) return Instant::max();
  return policy::end_of(*since, worker.snapshot->settings.timers.header);
}

bool Http2Session::is_leaving() const {
  return connection_->is_finished() || connection_->state().going_away() ||
         connection_->state().goodbye_is_known() || (leave_by_ && net::Tick::now() >= *leave_by_);
}

void Http2Session::say_goodbye() {
  constexpr Duration longest_response_to_ping = std::chrono::seconds(1);  // row M64
  if (leave_by_) return;
  leave_by_ = net::Tick::now() + longest_response_to_ping;
  connection_->announce_goodbye();
  changes_.cancel();
}

void Http2Session::count_events() {
  telemetry::Metrics& metrics = worker.shared.metrics;
  for (const Rejection cause : connection_->take_malformed())
    metrics.count_rejection(static_cast<std::size_t>(cause));
  net::count_codes(metrics, Http2Side::client, *connection_);
}

void Http2Session::serve(http::StreamId id) {
  ++serving_;
  has_served_ = true;
  worker.shared.metrics.http2_streams_changed(Http2Side::client, 1);
  asio::co_spawn(worker.io.get_executor(), serve_stream(*this, id), or_abort);
}

Task<void> Http2Session::serve_connect(http::StreamId id) {
  const bool asks_websocket = connection_->state().connect_protocol(id) == http::ConnectProtocol::websocket;
  ClientConnection stream{.carrier = std::make_unique<net::Http2ClientLink>(connection_, id),
                          .listener = listener,
                          .role = role,
                          .ends = ends,
                          .place = {},
                          .is_websocket = asks_websocket,
                          .client = asks_websocket ? pin.client() : nullptr};
  std::optional<InsideStream> inside = inside_;
  if (inside) inside->http2 = false;
  co_await run_session(worker, std::move(stream), std::move(inside));
}

Task<void> Http2Session::serve_stream(Http2Session& session, http::StreamId id) {
  const http::ClientWire& state = session.connection_->state();
  const bool asks_websocket = state.connect_protocol(id) == http::ConnectProtocol::websocket;
  if (asks_websocket || (!session.inside_ && state.is_connect(id))) {
    co_await session.serve_connect(id);
  } else {
    auto request = session.begin_request();
    {
      ServedStream served(session, id);
      co_await served.serve(*request);
      request->out.body.end();  // it reads from `served`
    }
    session.end_request(std::move(request));
  }
  --session.serving_;
  session.worker.shared.metrics.http2_streams_changed(Http2Side::client, -1);
  session.changes_.cancel();
}

void Http2Session::drain() {
  for (ServedStream* each = served_; each != nullptr; each = each->next()) {
    if (net::ClientWatch* const watch = each->watch()) watch->shut_down();
  }
  if (connection_ == nullptr) return;
  say_goodbye();
  connection_->end_linger();
}

void Http2Session::announce_end() {
  if (connection_ != nullptr && must_end()) say_goodbye();
}

void Http2Session::abort() {
  for (ServedStream* each = served_; each != nullptr; each = each->next()) {
    if (net::ClientWatch* const watch = each->watch()) watch->report_reset();
  }
  if (connection_ == nullptr) return;
  connection_->end_linger();
  connection_->abort();
}

bool Http2Session::close_for_room() {
  if (serving_ > 0 || connection_->has_unread()) return false;
  worker.shared.metrics.count_limit(telemetry::LimitHit::room);
  connection_->linger_for(Duration::zero());
  connection_->close();
  return true;
}

Task<void> serve_http2(Worker& worker, Http2Opening opening) {
  Http2Session session(worker, std::move(opening.connection), std::move(opening.inside));
  co_await session.run(opening.early);
}

}  // namespace reprise::forward
