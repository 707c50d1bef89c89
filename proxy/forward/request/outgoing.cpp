#include "proxy/forward/request/outgoing.hpp"

#include <algorithm>
#include <cassert>

#include "proxy/forward/request/outgoing_fields.hpp"
#include "proxy/http/body_rules/json_probe.hpp"
#include "proxy/http/retry_hints/signature.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/io/clock.hpp"
#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/decision/gates.hpp"

namespace reprise::forward {

void Outgoing::clear() {
  body.end();
  net::empty_out(head);
  via = AttemptVia::in_the_head;
  grpc_timeout = {};
  continue_sent = resuming = may_hold_stream = bound = false;
  freshness = net::Freshness::any;
  recent = {};
  tried.clear();
  pin = nullptr;
  named_.reset();
  by_body_.reset();
}

policy::Idempotency Outgoing::judge(const policy::JsonBody* held) const {
  const OutgoingFields fields(in.head, head, named_);
  policy::RequestView view = in.view;
  view.fields = &fields;
  return policy::judge(route.policy->idempotent, view, held);
}

policy::Idempotency Outgoing::judge_now() const {
  if (route.facts.idempotent != policy::Idempotency::undecided) return route.facts.idempotent;
  // A body with a content coding is not decoded, so its JSON cannot be read.
  if (!body.whole_in_memory() || in.head.has("Content-Encoding", "")) return policy::Idempotency::no;
  if (!by_body_) {
    const http::JsonText json(body.held());
    by_body_ = judge(&json);
  }
  return *by_body_;
}

bool Outgoing::may_be_repeated() const {
  policy::Facts facts = route.facts;
  facts.idempotent = judge_now();
  return policy::is_repeatable(facts, *route.policy, body.replayable());
}

namespace {

bool is_among(const std::vector<policy::UpstreamAddress>& all, const policy::UpstreamAddress& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

void Outgoing::note_address(const policy::UpstreamAddress& address) {
  constexpr std::size_t most = 16;  // maximum number of addresses of a name (row I13)
  if (address.known() && tried.size() < most && !is_among(tried, address)) tried.push_back(address);
}

void Outgoing::note_connection(unsigned number, bool copy, const net::Lease& connection) {
  // An attempt and its hedged copy may be sent in either order. Neither of them clears `recent`, because it
  // may hold the connection number of the other.
  if (number > 1 && !copy) recent = {};
  recent[number % recent.size()] = connection.number();
  note_address(connection.address());
}

bool Outgoing::has_untried_address() const {
  const auto& known = route.carrier()->addresses;
  return std::any_of(known.begin(), known.end(), [&](const auto& each) { return !is_among(tried, each); });
}

bool is_too_long_for_memory(const http::RequestHead& head, const policy::RoutePolicy& policy) {
  const http::Framing& framing = head.framing;
  const bool counted = framing.kind == http::Framing::Kind::length;
  return framing.kind == http::Framing::Kind::chunked ||
         (counted && framing.length > policy.replay_memory_bytes);
}

std::optional<Instant> end_of_signature(const Incoming& in) {
  const auto expiry = http::signature_expiry(in.head, in.view.query);
  return expiry ? std::optional(net::instant_of(*expiry)) : std::nullopt;
}

std::uint64_t longest_body(const policy::RoutePolicy& policy, const config::Limits& process) {
  return std::min(policy.request_body_bytes, process.request_body_bytes);
}

bool uses_http2(const Outgoing& out) {
  const Route& route = out.route;
  if (route.is_call) return route.needs_http2();
  const net::Upstream& carrier = *route.carrier();
  const bool needs_http1 = out.bound || (out.in.view.changes_protocol && !out.in.head.over_http2);
  return policy::uses_http2(*route.policy, needs_http1, out.in.head.over_http2) && !route.is_for_parent() &&
         !carrier.requires_http1() && !out.pin->requires_http1(carrier) &&
         !(out.may_use_either() && carrier.version.is_http1()) &&
         !(out.is_websocket() && carrier.version.upgrades_over_http1());
}

bool expects_http2(const Outgoing& out) {
  return uses_http2(out) && !(out.may_use_either() && out.route.carrier()->version.http1_over_tls);
}

bool needs_length(const Outgoing& out) {
  return out.in.head.framing.kind == http::Framing::Kind::chunked && !out.route.is_call &&
         out.route.carrier()->speaks_1_0() && !expects_http2(out);
}

HoldLimits hold_limits(const Outgoing& out) {
  const Incoming& in = out.in;
  const Route& route = out.route;
  const policy::RoutePolicy& policy = *route.policy;
  const config::Limits& process = route.snapshot->settings.limits;
  const bool over_http2 = expects_http2(out);
  const bool pointless =
      policy.mode == policy::Mode::off || (route.facts.idempotent == policy::Idempotency::no &&
                                           !policy::repeats_after_refusal(policy, over_http2));
  HoldLimits limits;
  limits.memory = pointless && !needs_length(out) ? 0 : policy.replay_memory_bytes;
  limits.disk = std::min(policy::disk_share(route.facts, policy, over_http2), process.replay_disk_bytes);
  limits.in_place = std::max<std::uint64_t>(policy.replay_memory_bytes, limits.disk);
  limits.most = longest_body(policy, process);
  if (policy.retry.deadline) limits.until = in.started + *policy.retry.deadline;
  return limits;
}

}  // namespace reprise::forward
