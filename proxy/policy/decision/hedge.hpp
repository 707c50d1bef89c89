// Hedging: when a second copy of a slow attempt is due, whether it may start, and how it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/policy/decision/verdict.hpp"
#include "proxy/policy/pacing/latency.hpp"

namespace reprise::policy {

struct RoutePolicy;

/// The `hedge` key of a route. At most one copy of each request is sent, while its first attempt still runs.
struct HedgePolicy {
  /// Time from the start of the first attempt to the start of the copy; if absent, the observed p95 of the
  /// route.
  std::optional<Duration> after = std::chrono::milliseconds(200);
};

/// The result of a copy that was due. Each enumerator is a metric label.
enum class HedgeOutcome : std::uint8_t {
  none,       ///< the attempt ended before the copy was due, or the route does not hedge
  refused,    ///< the copy must not start; the ledger has the reason
  observed,   ///< the copy would have started, but the route only observes
  won,        ///< the client got the response to the copy
  lost,       ///< the first attempt was faster
  failed,     ///< the copy brought no usable response
  cancelled,  ///< the client left while the copy was under way
};

inline constexpr std::uint8_t hedge_outcome_count = count_of<HedgeOutcome>;

std::string_view word(HedgeOutcome);

/// Returns when to start the copy of an attempt that starts at `start`; nothing if there is no copy.
/// `latency` may be null.
std::optional<Instant> hedge_due(const RoutePolicy&, const ObservedLatency* latency, Instant start);

/// Returns `hedged` or `observe_only` if a copy may start now, otherwise the reason of the gate that failed.
/// Pure. The request must be safe to send twice whatever happens to the first attempt: it is idempotent, and
/// its whole body is held.
Reason judge_hedge(const Facts&, const Attempt&, const RoutePolicy&, Instant now,
                   std::optional<Instant> deadline, double budget_left);

/// Returns true if the outcome is a response that would not be retried. Such a response wins the race, even
/// if the other attempt still runs.
bool ends_race(const Outcome&, const RoutePolicy&);

}  // namespace reprise::policy
