#include "proxy/policy/decision/hold.hpp"

#include <algorithm>

#include "proxy/policy/decision/route_policy.hpp"

namespace reprise::policy {
namespace {

bool may_hold_in(const BodyPredicate& predicate, BodyKind kind) {
  const bool in_json = !predicate.json.empty() && predicate.event.empty();
  const bool in_xml = !predicate.xml.empty();
  switch (kind) {
    case BodyKind::json: return in_json;
    case BodyKind::xml: return in_xml;
    case BodyKind::untyped: return in_json || in_xml;
    case BodyKind::event_stream: return !predicate.event.empty() || !predicate.json.empty();
    case BodyKind::other: break;
  }
  return false;
}

}  // namespace

const HoldPolicy* hold_for(const RoutePolicy& policy, const Responded& response) {
  constexpr int switching_protocols = 101;
  if (!policy.hold || policy.mode == Mode::off || response.status == switching_protocols) return nullptr;
  const bool listed = policy.retry.on.lists(response) || policy.retry.refused.lists(response.status);
  return listed ? nullptr : &*policy.hold;
}

Duration peek_time(const RoutePolicy& policy, bool request_complete) {
  constexpr Duration most = std::chrono::milliseconds(50);
  if (!request_complete) return Duration::zero();
  return policy.hold ? policy.hold->time : most;
}

std::size_t bytes_to_hold(const HoldPolicy& hold, int status, BodyKind kind) {
  if (hold.bytes > 0) return hold.bytes;
  const bool may_match = std::any_of(hold.body.begin(), hold.body.end(), [&](const BodyPredicate& predicate) {
    return concerns(predicate, status) && may_hold_in(predicate, kind);
  });
  return may_match ? default_peek_bytes : 0;
}

}  // namespace reprise::policy
