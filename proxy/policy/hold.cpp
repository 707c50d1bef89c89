#include "proxy/policy/hold.hpp"

#include <algorithm>

#include "proxy/policy/route_policy.hpp"

namespace reprise::policy {

const HoldPolicy* hold_for(const RoutePolicy& policy, const Answered& answer) {
  constexpr int switching_protocols = 101;
  if (!policy.hold || policy.mode == Mode::off || answer.status == switching_protocols) return nullptr;
  return policy.retry.on.lists(answer) ? nullptr : &*policy.hold;
}

std::size_t bytes_to_hold(const HoldPolicy& hold, BodyKind kind) {
  if (hold.bytes > 0) return hold.bytes;
  const bool may_match = std::any_of(hold.body.begin(), hold.body.end(), [&](const BodyPredicate& predicate) {
    return kind == BodyKind::event_stream || (kind == BodyKind::json && predicate.event.empty());
  });
  return may_match ? standard_look_bytes : 0;
}

}  // namespace reprise::policy
