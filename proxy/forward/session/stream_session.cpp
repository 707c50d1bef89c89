#include "proxy/forward/session/stream_session.hpp"

#include "proxy/forward/exchange/exchange_driver.hpp"
#include "proxy/forward/exchange/open_tunnel.hpp"
#include "proxy/forward/exchange/record.hpp"
#include "proxy/forward/exchange/sniff_stream.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/net/tls/client_tls.hpp"
#include "proxy/net/upstream/address.hpp"

namespace reprise::forward {

using http::Rejection;
using telemetry::Interception;
using telemetry::LimitHit;

Task<std::optional<InsideStream>> StreamSession::begin(const StreamListener& mode) {
  const Duration limit = request_.route.snapshot->settings.timers.handshake;
  auto asked = co_await mode.read_target(client_, limit);
  client_.pin_current_snapshot(request_);
  if (const auto* const gone = std::get_if<StreamGone>(&asked)) {
    if (gone->late) client_.worker.shared.metrics.count_limit(LimitHit::handshake);
    co_return std::nullopt;
  }
  std::optional<Rejection> refused;
  if (auto* const target = std::get_if<StreamTarget>(&asked)) {
    refused = mode.judge(client_, *target);
    plan_tunnel(client_, client_.begin_body(request_.in.head), request_, mode, std::move(*target));
    if (!refused) co_return co_await carry();
    co_await mode.refuse(client_, *refused, limit);
  } else {
    refused = std::get<Rejection>(asked);
  }
  report_refusal(*refused);
  co_await mode.close(client_);
  co_return std::nullopt;
}

// Counts and logs a rejected stream. The client has already received the reply in its own protocol, or cannot
// receive a reply.
void StreamSession::report_refusal(Rejection cause) {
  const Shared& shared = client_.worker.shared;
  shared.metrics.count_rejection(static_cast<std::size_t>(cause));
  log_rejection(client_.worker, request_, http::rejection_reply(cause, shared.pseudonym), cause);
}

// This function is not a coroutine, because it only calls one of two coroutines.
Task<std::optional<InsideStream>> StreamSession::carry() {
  return sniffs_before_dial(request_.route, tunnel()) ? sniff_and_carry() : exchange_bytes();
}

Task<std::optional<InsideStream>> StreamSession::sniff_and_carry() {
  TunnelRequest& tunnel = this->tunnel();
  Route& route = request_.route;
  const ErrorCode gone = co_await accept_stream(tunnel, request_.responses.own_fields,
                                                route.policy->idle_timeout, client_.stream, client_.buffer);
  if (gone) co_return std::nullopt;
  co_await sniff_stream(client_.worker, request_, tunnel, client_.stream, nullptr);
  if (tunnel.is_over()) co_return std::nullopt;
  if (!tunnel.protocol->names_host() && tunnel.tls && !tunnel.tls->server_name.empty())
    route_by_name(request_, tunnel, tunnel.tls->server_name);
  if (route.policy->mode == policy::Mode::off) tunnel.tls.reset();
  std::optional<InsideStream> inside;
  if (tunnel.carries_requests()) {
    inside = co_await go_inside();
  } else {
    inside = co_await exchange_bytes();
  }
  co_return inside;
}

Task<std::optional<InsideStream>> StreamSession::exchange_bytes() {
  Served served;
  {
    ServedClient::Watch watch(client_);
    OneExchange one{client_.worker, request_, watch.side()};
    served = co_await exchange(one);
  }
  record(client_.worker, request_, served);
  std::optional<InsideStream> inside;
  if (served.inside) inside = co_await go_inside();
  co_return inside;
}

// Prepares to serve the requests inside the stream. All of them go to the stream's upstream.
Task<std::optional<InsideStream>> StreamSession::go_inside() {
  TunnelRequest& tunnel = this->tunnel();
  const bool has_tls = tunnel.tls && tunnel.tls->interception == Interception::intercepted;
  const bool redirected = !tunnel.protocol->names_host();
  client_.buffer.clear();
  if (has_tls && !co_await terminate_tls()) co_return std::nullopt;
  if (!has_tls) std::swap(client_.buffer, tunnel.early);
  InsideStream inside;
  inside.kind = has_tls      ? RequestKind::intercepted
                : redirected ? RequestKind::redirected
                             : RequestKind::inside_tunnel;
  inside.http2 = chose_http2_;
  inside.host = tunnel.host;
  inside.port = tunnel.port;
  inside.authority =
      has_tls && redirected ? http::authority_text(inside.host, inside.port) : std::move(tunnel.authority);
  inside.dialled = redirected ? net::address_text(client_.ends.listener.address()) : inside.host;
  co_return inside;
}

// Performs the TLS handshake with the client, using a generated certificate. `tunnel.early` holds the bytes
// of the handshake that were already read.
Task<bool> StreamSession::terminate_tls() {
  TunnelRequest& tunnel = this->tunnel();
  net::Stream& stream = client_.stream;
  const net::Snapshot& snapshot = *request_.route.snapshot;
  std::string why;
  const auto accept =
      co_await snapshot.client_tls->certificate_for(tunnel.tls->server_name, stream.executor(), why);
  if (!accept) {
    report(Interception::no_certificate, why);
    co_return false;
  }
  const net::Protocol offered = tunnel.reads_http2 ? net::Protocol::either : net::Protocol::http1;
  auto made = accept(stream.release(), std::string(tunnel.early.view()), offered);
  tunnel.early.clear();
  net::SecureLink& link = *made;
  stream.run_over(std::move(made));
  const Duration limit = snapshot.settings.timers.handshake;
  stream.limit_read(limit);
  ErrorCode error;
  net::Handshake step = link.shake_hands();
  while (!error && (step == net::Handshake::wants_read || step == net::Handshake::wants_write)) {
    error = step == net::Handshake::wants_read ? co_await stream.wait_readable()
                                               : co_await stream.wait_writable(limit);
    if (!error) step = link.shake_hands();
  }
  stream.unlimit_read();
  if (!error && step == net::Handshake::done) {
    client_.worker.shared.metrics.count_interception(Interception::intercepted);
    chose_http2_ = link.selected_http2();
    co_return true;
  }
  if (stream.take_limit_hit()) {
    client_.worker.shared.metrics.count_limit(LimitHit::handshake);
    report(Interception::handshake_timeout, {});
    co_return false;
  }
  std::string words = error ? error.message() : link.words();
  if (words.find("unknown ca") != std::string::npos || words.find("bad certificate") != std::string::npos)
    words.append(
        "; the client may not trust intercept.bundle: `reprise env` prints the variables that make the "
        "client trust it");
  report(Interception::handshake_failed, words);
  co_return false;
}

void StreamSession::report(Interception outcome, std::string_view words) {
  client_.worker.shared.metrics.count_interception(outcome);
  log_interception(client_.worker, request_.in, tunnel(), outcome, words);
}

}  // namespace reprise::forward
