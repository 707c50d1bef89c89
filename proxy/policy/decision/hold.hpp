// The commit point: how much of a response is kept back, so that a break or an error in it is still a retry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proxy/policy/decision/outcome.hpp"
#include "proxy/policy/match/body_predicate.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

struct RoutePolicy;

/// `hold:` of a route. A body is released at whichever comes first: its end, `bytes`, the first event of an
/// event stream, or `time`.
struct HoldPolicy {
  std::size_t bytes = 0;                    ///< 0: only what the predicates need
  Duration time = std::chrono::seconds(1);  ///< from the response's head; a quiet stream is held no longer
  std::vector<BodyPredicate> body;          ///< any of them makes the response worth another attempt
};

/// What a body can be looked into for. `untyped` may be JSON or XML; a content-coded one is `other`.
enum class BodyKind : std::uint8_t { json, xml, untyped, event_stream, other };

/// What predicates may look at where `hold.bytes` does not say.
inline constexpr std::size_t standard_look_bytes = 16 * 1024;

/// The route's hold, where it applies to such a response: one that would be delivered. Null: it does not.
const HoldPolicy* hold_for(const RoutePolicy&, const Answered&);
/// How much of the body of a response of that status is kept back at most; 0: nothing.
std::size_t bytes_to_hold(const HoldPolicy&, int status, BodyKind);

}  // namespace reprise::policy
