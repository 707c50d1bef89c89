// What becomes of a request's head: where it goes, by which route, and on what terms; or why it is refused.
#include "proxy/forward/attempt/lease.hpp"
#include "proxy/forward/request/facts.hpp"
#include "proxy/forward/session/session.hpp"
#include "proxy/http/http1/parent.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/message/connection_auth.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/http/message/via.hpp"
#include "proxy/net/tls/tls_client.hpp"
#include "proxy/net/upstream/address.hpp"

namespace reprise::forward {

using http::Rejection;

namespace {

policy::Facts read_facts(const Request& request) {
  policy::Facts facts = facts_of_head(request.head, request.view, *request.policy);
  facts.idempotent = judge_leaving(request, nullptr);
  if (request.policy->signature_sigv4) facts.signed_until = end_of_signature(request);
  facts.no_store = is_too_long_for_memory(request) && http::is_no_store(request.head);
  facts.copyable = facts.copyable && !request.is_connect() && !request.bound;
  return facts;
}

// Row H5: towards a parent and over loopback a loop is found by nothing else. What a name leads to is known
// once there is a connection.
AttemptVia via_of(const Request& request, bool reached_by_others) {
  switch (request.policy->via) {
    case policy::AddVia::always: return AttemptVia::in_the_head;
    case policy::AddVia::never: return AttemptVia::none;
    case policy::AddVia::automatic: break;
  }
  const bool always =
      reached_by_others || is_for_parent(request) || http::is_loopback_host(request.upstream->host);
  return always ? AttemptVia::in_the_head : AttemptVia::over_loopback;
}

std::shared_ptr<net::Upstream> upstream_of(Worker& worker, const Request& request, std::string_view host,
                                           const http::Forward& forward) {
  if (!forward.https && !request.policy->tls.originate) return worker.pool.upstream(host, forward.port);
  const std::uint16_t port = forward.https ? forward.port : http::port_over_tls(forward.port);
  const auto& other_name = request.policy->tls.server_name;
  const std::string_view name = other_name ? std::string_view(*other_name) : forward.server_name;
  return worker.pool.upstream(host, port, {&request.snapshot->tls->of(request.route), name});
}

}  // namespace

http::Intake Session::take_in(const Request& request) const {
  const config::Listener& listener = role_->settings;
  if (inside_) {
    const http::Connect stream{inside_->host, inside_->port, inside_->authority};
    if (inside_->kind == RequestKind::redirected) return http::take_redirected(request.head, stream);
    return http::take_tunnelled(request.head, stream, inside_->kind == RequestKind::intercepted);
  }
  if (listener.mode == config::ListenerMode::forward)
    return http::take_forward(request.head, role_->connect_ports);
  // Needed to judge an absolute-form alone.
  const bool names_host = !request.head.target.starts_with('/');
  const std::string own_host = names_host ? net::address_text(ends_.listener.address()) : std::string();
  return http::take_gateway(request.head,
                            {listener.upstream.host, listener.upstream.port, listener.upstream.https,
                             role_->upstream_authority, own_host, ends_.listener.port()});
}

Session::Plan Session::plan(Request& request, Rejection& why) {
  put_under_newest(request);
  const http::Intake intake = take_in(request);
  if (const auto* rejected = std::get_if<http::Rejected>(&intake)) {
    why = rejected->cause;
    return Plan::refuse;
  }
  if (http::has_looped(request.head, worker_.shared.pseudonym)) {
    why = Rejection::loop;
    return Plan::refuse;
  }
  if (const auto* forward = std::get_if<http::Forward>(&intake)) {
    plan_forward(request, *forward);
    const http::Framing& framing = request.head.framing;
    if (framing.kind == http::Framing::Kind::length &&
        framing.length > longest_body(request, request.snapshot->settings.limits)) {
      why = Rejection::content_too_large;
      return Plan::refuse;
    }
  } else if (const auto* connect = std::get_if<http::Connect>(&intake)) {
    plan_tunnel(request, *connect);
  } else {
    return Plan::respond;
  }
  return Plan::exchange;
}

void Session::find_route(Request& request, std::string_view host, std::uint16_t port) {
  const policy::RouteTable& routes = *request.snapshot->settings.routes;
  request.view.method = request.head.method;
  request.view.host = host;
  request.view.port = port;
  request.view.fields = &request.head;
  request.route = routes.find(request.view);
  request.policy = &routes[request.route].policy;
}

void Session::plan_forward(Request& request, const http::Forward& forward) {
  request.kind = inside_ ? inside_->kind : role_->kind();
  request.view.path = forward.target.path.empty() ? "/" : forward.target.path;
  request.view.query = forward.target.query;
  find_route(request, forward.host, forward.port);
  const std::string_view dialled = inside_ ? std::string_view(inside_->dialled) : forward.host;
  request.upstream = upstream_of(worker_, request, dialled, forward);
  request.pin = &pin_;
  request.bound = http::authenticates_connection(request.head) || pin_.holds(*carrier_of(request));
  request.upgrade = http::asks_upgrade(request.head, to_h2c(request));
  request.view.changes_protocol = request.upgrade && !http::offers_only_tls(request.head);
  request.via = via_of(request, role_->reached_by_others);
  http::write_request_head(
      request.head, forward, role_->settings.upstream.path_prefix,
      request.via == AttemptVia::in_the_head ? worker_.shared.pseudonym : std::string_view(), request.upgrade,
      request.outgoing);
  if (is_for_parent(request))
    http::make_absolute(forward.host, forward.port, request.snapshot->settings.parent->authorization,
                        request.outgoing);
  if (!request.ends_head_by_attempt()) request.outgoing.append("\r\n");
  request.facts = read_facts(request);
  request.facts.unaware_client =
      request.kind == RequestKind::intercepted || request.kind == RequestKind::redirected;
  request.facts.first_of_connection = !std::exchange(had_request_, true);
  plan_gateway(request);
  plan_body(request);
}

void Session::plan_gateway(Request& request) {
  const config::Listener& listener = role_->settings;
  if (request.kind != RequestKind::gateway || listener.redirects == config::GatewayRedirects::pass) return;
  http::GatewayView& view = request.gateway.emplace();
  view.host = listener.upstream.host;
  view.port = request.upstream->port;
  view.https = request.upstream->tls != nullptr;
  view.path_prefix = listener.upstream.path_prefix;
  const http::FieldLine* const host = request.head.find(http::FieldId::host);
  if (host != nullptr && http::names_gateway(view, host->value, ends_.listener.port())) {
    view.authority = host->value;
    return;
  }
  request.gateway_authority =
      http::authority_text(net::address_text(ends_.listener.address()), ends_.listener.port());
  view.authority = request.gateway_authority;
}

// Where each host has the client's first such request on a connection of its own, as without us (row F10).
void Session::plan_body(Request& request) {
  const HoldLimits limits = hold_limits(request, request.snapshot->settings.limits);
  request.body.begin(stream_, buffer_, worker_.shared.replay, request.head, limits);
  request.freshness = freshness_of(request, limits, took_risk_of_);
  if (request.freshness != net::Freshness::any) took_risk_of_ = carrier_of(request).get();
}

void Session::plan_tunnel(Request& request, const http::Connect& connect) {
  request.view.path = "/";
  request.view.query = {};
  request.kind = RequestKind::connect;
  find_route(request, connect.host, connect.port);
  request.upstream = worker_.pool.upstream(connect.host, connect.port);
  request.facts = read_facts(request);
  // A CONNECT carries nothing upstream but the dial: repeating that is always safe.
  request.facts.idempotent = policy::Idempotency::yes;
  request.body.begin(stream_, buffer_, worker_.shared.replay, request.head, {});
}

}  // namespace reprise::forward
