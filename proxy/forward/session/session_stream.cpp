// A client's stream that may be anything: behind CONNECT, through SOCKS, or redirected here. It becomes a
// tunnel, or the session goes on inside it, request by request.
#include "proxy/forward/exchange/listen_to_client.hpp"
#include "proxy/forward/exchange/open_tunnel.hpp"
#include "proxy/forward/exchange/record.hpp"
#include "proxy/forward/session/lingering_close.hpp"
#include "proxy/forward/session/session.hpp"
#include "proxy/forward/session/socks_greeting.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/net/tls/client_tls.hpp"
#include "proxy/net/upstream/address.hpp"

namespace reprise::forward {

using http::Rejection;
using telemetry::Interception;
using telemetry::LimitHit;

// The first of a connection that begins with no request; false where no request will follow.
Task<bool> Session::begin_stream() {
  auto request = begin_request();
  request->started = net::Tick::now();
  const bool again = role_->settings.mode == config::ListenerMode::socks
                         ? co_await begin_socks(*request)
                         : co_await begin_redirected(*request);
  request->clear();
  worker_.give_back(std::move(request));
  if (again && buffer_.empty()) buffer_.clear();
  co_return again;
}

// As a CONNECT would have asked for it: whatever looks at a request sees one.
void Session::ask_for(Request& request, Entrance entrance, std::string host, std::uint16_t port) {
  wanted_host_ = std::move(host);
  wanted_ = http::authority_text(wanted_host_, port);
  request.entrance = entrance;
  request.head.method = "CONNECT";
  request.head.target = wanted_;
}

Task<bool> Session::begin_socks(Request& request) {
  const Duration limit = request.snapshot->settings.timers.handshake;
  auto greeted = co_await greet_socks(stream_, buffer_, limit);
  put_under_newest(request);
  if (auto* const wanted = std::get_if<SocksRequest>(&greeted)) {
    ask_for(request, Entrance::socks, std::move(wanted->host), wanted->port);
    const http::Connect connect{wanted_host_, wanted->port, wanted_};
    if (http::is_allowed(connect.port, role_->connect_ports)) {
      plan_tunnel(request, connect);
      co_return co_await carry_stream(request);
    }
    co_await refuse_socks(stream_, Rejection::connect_port_denied, limit);
    greeted = Rejection::connect_port_denied;
  }
  if (const auto* const cause = std::get_if<Rejection>(&greeted)) {
    tell_refusal(request, *cause);
    co_await lingering_close(stream_, buffer_);
  } else if (std::get<SocksGone>(greeted).late) {
    worker_.shared.metrics.count_limit(LimitHit::handshake);
  }
  co_return false;
}

Task<bool> Session::begin_redirected(Request& request) {
  const tcp::endpoint& original = ends_.listener;
  if (original.port() == 0) co_return false;
  ask_for(request, Entrance::transparent, net::address_text(original.address()), original.port());
  if (worker_.shared.own_dials.has(ends_.client, original)) {
    tell_refusal(request, Rejection::loop);
    stream_.cut();
    co_return false;
  }
  plan_tunnel(request, {wanted_host_, original.port(), wanted_});
  co_return co_await carry_stream(request);
}

// Its cause, its counter and its line; the client has been told in its own protocol, or cannot be.
void Session::tell_refusal(const Request& request, Rejection cause) {
  worker_.shared.metrics.count_rejection(static_cast<std::size_t>(cause));
  log_rejection(worker_, request, http::rejection_reply(cause, worker_.shared.pseudonym), cause);
}

// No coroutine of its own where it only chooses.
Task<bool> Session::carry_stream(Request& request) {
  return listens_first(request) ? hear_and_carry(request) : carry_out(request);
}

Task<bool> Session::hear_and_carry(Request& request) {
  const ErrorCode gone = co_await accept_stream(request, stream_, buffer_);
  if (gone) co_return false;
  co_await listen_to_client(worker_, request, stream_, nullptr);
  if (is_over(request)) co_return false;
  if (!request.server_name.empty() && request.entrance == Entrance::transparent) {
    // Now it is known for whom it is.
    wanted_host_ = request.server_name;
    find_route(request, wanted_host_, request.view.port);
  }
  if (request.policy->mode == policy::Mode::off) request.interception.reset();
  bool again = false;
  if (request.goes_inside()) {
    again = co_await go_inside(request);
  } else {
    again = co_await carry_out(request);
  }
  co_return again;
}

// From here on the connection belongs to that upstream.
Task<bool> Session::go_inside(Request& request) {
  const bool ends_tls = request.interception == Interception::intercepted;
  const bool redirected = request.entrance == Entrance::transparent;
  Inside inside;
  inside.kind = ends_tls ? RequestKind::intercepted
                         : (redirected ? RequestKind::redirected : RequestKind::inside_tunnel);
  inside.host = request.view.host;
  inside.port = request.view.port;
  inside.authority = ends_tls && redirected ? http::authority_text(inside.host, inside.port)
                                            : std::string(request.head.target);
  inside.dialled = redirected ? net::address_text(ends_.listener.address()) : inside.host;
  inside_ = std::move(inside);
  // What is told of the handshake outlives the head that asked for it.
  request.view.host = inside_->host;
  request.head.target = inside_->authority;
  buffer_.clear();
  if (ends_tls) co_return co_await end_tls(request);
  std::swap(buffer_, request.early);
  co_return true;
}

// The client's handshake, with a certificate of ours; what was read of it stands in `request.early`.
Task<bool> Session::end_tls(Request& request) {
  std::string why;
  const auto accept =
      co_await request.snapshot->client_tls->certificate_for(request.server_name, stream_.executor(), why);
  if (!accept) co_return tell_tls(request, Interception::no_certificate, why);
  auto made = accept(stream_.release(), std::string(request.early.view()));
  request.early.clear();
  net::SecureLink& link = *made;
  stream_.run_over(std::move(made));
  const Duration limit = request.snapshot->settings.timers.handshake;
  stream_.limit_read(limit);
  ErrorCode error;
  net::Handshake step = link.shake_hands();
  while (!error && (step == net::Handshake::wants_read || step == net::Handshake::wants_write)) {
    error = step == net::Handshake::wants_read ? co_await stream_.wait_readable()
                                               : co_await stream_.wait_writable(limit);
    if (!error) step = link.shake_hands();
  }
  stream_.unlimit_read();
  if (!error && step == net::Handshake::done) {
    worker_.shared.metrics.count_interception(Interception::intercepted);
    co_return true;
  }
  if (stream_.take_limit_hit()) {
    worker_.shared.metrics.count_limit(LimitHit::handshake);
    co_return tell_tls(request, Interception::handshake_timeout, {});
  }
  std::string words = error ? error.message() : link.words();
  if (words.find("unknown ca") != std::string::npos || words.find("bad certificate") != std::string::npos)
    words.append("; does it trust intercept.bundle? reprise env prints what makes it");
  co_return tell_tls(request, Interception::handshake_failed, words);
}

bool Session::tell_tls(const Request& request, Interception outcome, std::string_view words) {
  worker_.shared.metrics.count_interception(outcome);
  log_interception(worker_, request, outcome, words);
  return false;
}

}  // namespace reprise::forward
