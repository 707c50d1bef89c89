#include "proxy/forward/request/request.hpp"

#include <algorithm>
#include <cassert>

#include "proxy/forward/request/leaving.hpp"
#include "proxy/http/body_rules/json_probe.hpp"
#include "proxy/http/retry_hints/signature.hpp"
#include "proxy/net/io/clock.hpp"
#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/decision/gates.hpp"

namespace reprise::forward {

void Request::clear() {
  client = listener = {};
  machine.reset();
  body.end();
  early.clear();
  early.give_back();
  live.clear();
  copy.clear();
  kept.clear();
  head.forget();
  net::empty_out(head.fields);
  view = {};
  upstream.reset();
  snapshot.reset();
  route = 0;
  policy = nullptr;
  facts = {};
  judged = {};
  started = {};
  net::empty_out(outgoing);
  net::empty_out(response_head);
  net::empty_out(response_fields);
  kind = RequestKind::forward;
  entrance = Entrance::connect;
  tunnel = TunnelProgress::asked;
  via = AttemptVia::in_the_head;
  number = 0;
  gateway.reset();
  gateway_authority.clear();
  upgrade = continue_sent = resuming = bound = false;
  listener_closed = &never_closed;
  freshness = net::Freshness::any;
  recent = {};
  tried.clear();
  pin = nullptr;
  words = http::FirstWords::more;
  hello_bytes = 0;
  net::empty_out(server_name);
  net::empty_out(gateway_authority);
  interception.reset();
}

const policy::Ledger& Request::ledger() const {
  static const policy::Ledger nothing;
  return machine ? machine->ledger() : nothing;
}

// With HTTP2-Settings it is an offer to speak HTTP/2 (RFC 7540 3.2), as Java's HttpClient makes with every
// request: that field is of this hop, and the request stays one that can be repeated.
http::ToH2c to_h2c(const Request& request) {
  const bool asked_a_proxy =
      request.kind == RequestKind::forward || request.kind == RequestKind::inside_tunnel;
  const bool offers = request.head.find("HTTP2-Settings") != nullptr;
  return asked_a_proxy || offers ? http::ToH2c::dropped : http::ToH2c::passed;
}

// What is over TLS goes through a tunnel: the parent proxy must not read it.
// What a client asked a tunnel for does too.
bool is_for_parent(const Request& request) {
  const bool tunnelled = request.is_connect() || request.kind == RequestKind::inside_tunnel;
  return request.upstream->parent != nullptr && !tunnelled && request.upstream->tls == nullptr;
}

const std::shared_ptr<net::Upstream>& carrier_of(const Request& request) {
  return is_for_parent(request) ? request.upstream->parent : request.upstream;
}

bool is_too_long_for_memory(const Request& request) {
  const http::Framing& framing = request.head.framing;
  const bool counted = framing.kind == http::Framing::Kind::length;
  return framing.kind == http::Framing::Kind::chunked ||
         (counted && framing.length > request.policy->replay_memory_bytes);
}

std::optional<Instant> end_of_signature(const Request& request) {
  const auto expiry = http::signature_expiry(request.head, request.view.query);
  return expiry ? std::optional(net::instant_of(*expiry)) : std::nullopt;
}

std::uint64_t longest_body(const Request& request, const config::Limits& process) {
  return std::min(request.policy->request_body_bytes, process.request_body_bytes);
}

HoldLimits hold_limits(const Request& request, const config::Limits& process) {
  const policy::RoutePolicy& policy = *request.policy;
  const bool pointless =
      policy.mode == policy::Mode::off ||
      (request.facts.idempotent == policy::Idempotency::no && !policy::repeats_after_refusal(policy));
  // Row A10: chunks for an upstream of HTTP/1.0 are counted before they are sent.
  const bool to_count =
      request.head.framing.kind == http::Framing::Kind::chunked && carrier_of(request)->speaks_1_0();
  HoldLimits limits;
  limits.memory = pointless && !to_count ? 0 : policy.replay_memory_bytes;
  limits.disk = std::min(policy::disk_share(request.facts, policy), process.replay_disk_bytes);
  limits.in_place = std::max<std::uint64_t>(policy.replay_memory_bytes, limits.disk);
  limits.most = longest_body(request, process);
  if (policy.retry.deadline) limits.until = request.started + *policy.retry.deadline;
  return limits;
}

policy::Idempotency judge_leaving(const Request& request, const policy::JsonBody* body) {
  assert(request.is_connect() || !request.outgoing.empty());
  const LeavingFields fields(request.head, request.outgoing, request.judged.named);
  policy::RequestView view = request.view;
  view.fields = &fields;
  return policy::judge(request.policy->idempotent, view, body);
}

policy::Idempotency judge_now(const Request& request) {
  if (request.facts.idempotent != policy::Idempotency::undecided) return request.facts.idempotent;
  const RequestBody& body = request.body;
  // A content-coded body cannot be looked into.
  if (!body.whole_in_memory() || request.head.has("Content-Encoding", "")) return policy::Idempotency::no;
  std::optional<policy::Idempotency>& by_body = request.judged.by_body;
  if (!by_body) {
    const http::JsonText json(body.held());
    by_body = judge_leaving(request, &json);
  }
  return *by_body;
}

bool may_be_repeated(const Request& request) {
  policy::Facts facts = request.facts;
  facts.idempotent = judge_now(request);
  return policy::is_repeatable(facts, *request.policy, request.body.replayable());
}

}  // namespace reprise::forward
