// The commit point: how much of a response is held back, so that a break or an error within it can still be
// retried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proxy/policy/decision/outcome.hpp"
#include "proxy/policy/match/body_predicate.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

struct RoutePolicy;

/// The `hold` key of a route. A held body is released when the first of these is reached: its end, `bytes`,
/// the first event of an event stream, or `time`.
struct HoldPolicy {
  std::size_t bytes = 0;                    ///< bytes to hold; 0: only the bytes that the predicates need
  Duration time = std::chrono::seconds(1);  ///< maximum time from the response head on, for slow streams
  /// Predicates: a response that matches any of them is retried as if `retry.on` listed it.
  std::vector<BodyPredicate> body;
};

/// The kinds of body that predicates can read. `untyped` may be JSON or XML. A body with a content coding is
/// `other`.
enum class BodyKind : std::uint8_t { json, xml, untyped, event_stream, other };

/// Bytes held for the predicates if `hold.bytes` is not set.
inline constexpr std::size_t default_peek_bytes = 16 * 1024;

/// Returns the route's `hold` if it applies to that response: only a response that would otherwise be
/// delivered is held. Null if it does not apply.
const HoldPolicy* hold_for(const RoutePolicy&, const Responded&);
/// Returns how long the head of the response to a repeatable gRPC call waits for the next frame, which may
/// bring the status of the call (row M72). Zero: only a frame that is at hand is read, because a client that
/// still sends may wait for the head.
Duration peek_time(const RoutePolicy&, bool request_complete);
/// Returns the maximum number of body bytes to hold back for a response with that status; 0 for none.
std::size_t bytes_to_hold(const HoldPolicy&, int status, BodyKind);

}  // namespace reprise::policy
