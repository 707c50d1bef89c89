#include "proxy/forward/session/plan.hpp"

#include <cassert>

#include "proxy/forward/attempt/lease.hpp"
#include "proxy/forward/request/facts.hpp"
#include "proxy/forward/session/forward_mode.hpp"
#include "proxy/http/grpc/timeout.hpp"
#include "proxy/http/http1/parent.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/message/connection_auth.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/http/message/via.hpp"
#include "proxy/net/tls/tls_client.hpp"

namespace reprise::forward {

using http::Rejection;

namespace {

policy::Facts read_facts(const Outgoing& out, bool is_tunnel) {
  const Incoming& in = out.in;
  const policy::RoutePolicy& policy = *out.route.policy;
  policy::Facts facts = facts_of_head(in.head, in.view, policy);
  facts.idempotent = out.judge(nullptr);
  if (policy.signature_sigv4) facts.signed_until = end_of_signature(in);
  facts.no_store = is_too_long_for_memory(in.head, policy) && http::is_no_store(in.head);
  facts.copyable = facts.copyable && !is_tunnel && !out.bound;
  if (!out.grpc_timeout.empty()) facts.call_deadline = in.started + *http::parse_timeout(out.grpc_timeout);
  return facts;
}

// Returns which attempts get this proxy's Via line. If the upstream is on loopback or is reached through a
// parent proxy, only Via reveals a loop (row H5). Whether a host name leads to loopback is known only after
// the dial.
AttemptVia via_of(const Route& route, bool reached_by_others) {
  switch (route.policy->via) {
    case policy::AddVia::always: return AttemptVia::in_the_head;
    case policy::AddVia::never: return AttemptVia::none;
    case policy::AddVia::automatic: break;
  }
  const bool always =
      reached_by_others || route.is_for_parent() || http::is_loopback_host(route.upstream->host);
  return always ? AttemptVia::in_the_head : AttemptVia::over_loopback;
}

std::shared_ptr<net::Upstream> upstream_of(Worker& worker, const Route& route, std::string_view host,
                                           const http::Forward& forward) {
  const policy::TlsPolicy& tls = route.policy->tls;
  if (!forward.https && !tls.originate) return worker.pool.upstream(host, forward.port);
  const std::uint16_t port = forward.https ? forward.port : http::port_over_tls(forward.port);
  const std::string_view name = tls.server_name ? std::string_view(*tls.server_name) : forward.server_name;
  return worker.pool.upstream(host, port, {&route.snapshot->tls->of(route.number), name});
}

http::Intake take_in(const Client& client, const InsideStream* inside, const http::RequestHead& head) {
  if (inside == nullptr) {
    const RequestListener* const mode = client.role->mode().requests();
    assert(mode != nullptr);
    return mode->take_in(head, *client.role, client.ends);
  }
  const http::Connect stream{inside->host, inside->port, inside->authority};
  if (inside->kind == RequestKind::redirected) return http::take_redirected(head, stream);
  return http::take_tunnelled(head, stream, inside->kind == RequestKind::intercepted);
}

void choose_route(Request& request, std::string_view method, std::string_view host, std::uint16_t port) {
  policy::RequestView& view = request.in.view;
  view.method = method;
  view.host = host;
  view.port = port;
  view.fields = &request.in.head;
  request.route.choose(view);
}

// Prepares to read the request body, and decides which pooled connections may carry the request. A client's
// first non-repeatable request to a host gets its own connection, as it would without a proxy (row F10).
void plan_body(Client& client, net::BodySource& body, Request& request) {
  Outgoing& out = request.out;
  const HoldLimits limits = hold_limits(out);
  out.body.begin(body, client.worker.shared.replay, request.in.head, limits);
  out.freshness = freshness_of(out, limits, client.non_repeatable_upstream);
  if (out.freshness != net::Freshness::any) client.non_repeatable_upstream = request.route.carrier().get();
}

// Removes the time limit of a call from the head, because each attempt appends its own.
void remove_timeout(std::string& head) {
  const std::size_t begin = head.find("\r\ngrpc-timeout:");
  if (begin == std::string::npos) return;
  head.erase(begin + 2, head.find("\r\n", begin + 2) - begin);
}

void write_outgoing(const Client& client, const http::Forward& forward, Request& request) {
  const Route& route = request.route;
  Outgoing& out = request.out;
  const bool upgrades = std::holds_alternative<Upgrade>(request.purpose);
  out.via = via_of(route, client.role->reached_by_others);
  const std::string_view pseudonym = client.worker.shared.pseudonym;
  http::write_request_head(request.in.head, forward,
                           out.via == AttemptVia::in_the_head ? pseudonym : std::string_view(), upgrades,
                           out.head);
  if (!out.grpc_timeout.empty()) remove_timeout(out.head);
  if (route.is_for_parent())
    http::make_absolute(forward.host, forward.port, route.snapshot->settings.parent->authorization, out.head);
  if (!out.ends_head_by_attempt()) out.head.append("\r\n");
}

void plan_forward(Client& client, const InsideStream* inside, const http::Forward& forward,
                  net::BodySource& body, Request& request) {
  Incoming& in = request.in;
  Route& route = request.route;
  Outgoing& out = request.out;
  const RequestListener* const mode = client.role->mode().requests();
  in.kind = inside != nullptr ? inside->kind : mode->kind();
  in.view.path = forward.target.path.empty() ? "/" : forward.target.path;
  in.view.query = forward.target.query;
  choose_route(request, in.head.method, forward.host, forward.port);
  const std::string_view dialled = inside != nullptr ? std::string_view(inside->dialled) : forward.host;
  route.upstream = upstream_of(client.worker, route, dialled, forward);
  route.in_tunnel = in.kind == RequestKind::inside_tunnel;
  if (route.is_call) out.grpc_timeout = http::timeout_of(in.head);
  out.pin = &client.pin;
  out.bound = http::authenticates_connection(in.head) || client.pin.holds(*route.carrier());
  if (http::asks_upgrade(in.head, to_h2c(in))) {
    request.purpose = Upgrade{};
    in.view.changes_protocol = !http::offers_only_tls(in.head);
  }
  write_outgoing(client, forward, request);
  route.facts = read_facts(out, false);
  route.facts.unaware_client = in.kind == RequestKind::intercepted || in.kind == RequestKind::redirected;
  route.facts.first_of_connection = !std::exchange(client.had_request, true);
  if (inside == nullptr) mode->plan_responses(request, *client.role, client.ends);
  plan_body(client, body, request);
}

}  // namespace

Plan plan(Client& client, const InsideStream* inside, net::BodySource& body, Request& request) {
  client.pin_current_snapshot(request);
  http::Intake intake = take_in(client, inside, request.in.head);
  if (const auto* rejected = std::get_if<http::Rejected>(&intake)) return rejected->cause;
  if (http::has_looped(request.in.head, client.worker.shared.pseudonym)) return Rejection::loop;
  if (auto* forward = std::get_if<http::Forward>(&intake)) {
    // From here on the path is the upstream's, like host and port: for routes, for the log and for the head.
    http::put_below(client.role->settings.upstream.path_prefix, forward->target, request.in.below_upstream);
    plan_forward(client, inside, *forward, body, request);
    const Route& route = request.route;
    const http::Framing& framing = request.in.head.framing;
    const bool too_long = framing.kind == http::Framing::Kind::length &&
                          framing.length > longest_body(*route.policy, route.snapshot->settings.limits);
    return too_long ? Plan(Rejection::content_too_large) : Plan(Exchanged{});
  }
  if (const auto* connect = std::get_if<http::Connect>(&intake)) {
    plan_tunnel(client, body, request, connect_protocol(),
                {std::string(connect->host), connect->port, std::string(connect->authority)});
    return Exchanged{};
  }
  return RespondedHere{};
}

void plan_tunnel(Client& client, net::BodySource& body, Request& request, const StreamProtocol& protocol,
                 StreamTarget target) {
  TunnelRequest& tunnel = request.purpose.emplace<TunnelRequest>(protocol, std::move(target.host),
                                                                 target.port, std::move(target.authority));
  tunnel.reads_http2 = client.role->settings.http2;
  request.in.view.path = "/";
  request.in.view.query = {};
  choose_route(request, "CONNECT", tunnel.host, tunnel.port);
  Route& route = request.route;
  route.upstream = client.worker.pool.upstream(tunnel.host, tunnel.port);
  route.in_tunnel = true;
  route.facts = read_facts(request.out, true);
  // A CONNECT has no effect upstream except the dial, so repeating it is always safe.
  route.facts.idempotent = policy::Idempotency::yes;
  request.out.body.begin(body, client.worker.shared.replay, request.in.head, {});
}

void route_by_name(Request& request, TunnelRequest& tunnel, std::string host) {
  tunnel.host = std::move(host);
  choose_route(request, "CONNECT", tunnel.host, tunnel.port);
}

}  // namespace reprise::forward
