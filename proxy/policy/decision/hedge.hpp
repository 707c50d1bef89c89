// A second copy beside a slow attempt: when it is due, whether it may start, and what became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/policy/decision/verdict.hpp"
#include "proxy/policy/pacing/latency.hpp"

namespace reprise::policy {

struct RoutePolicy;

/// `hedge`: one copy for each request, of its first attempt.
struct HedgePolicy {
  /// From the start of the attempt to the copy; absent: the route's observed p95.
  std::optional<Duration> after = std::chrono::milliseconds(200);
};

/// What became of a copy that was due. One word is one metric label.
enum class HedgeOutcome : std::uint8_t {
  none,       ///< the attempt ended before it was due, or the route does not hedge
  refused,    ///< it must not start: the ledger says why
  observed,   ///< it would have started; the route only observes
  won,        ///< the client got its response
  lost,       ///< the first attempt was faster
  failed,     ///< it brought no response worth having
  cancelled,  ///< the client left while it ran
};

inline constexpr std::uint8_t hedge_outcome_count = count_of<HedgeOutcome>;

std::string_view word(HedgeOutcome);

/// When the copy of an attempt that starts now is due; nothing where there is none. `latency` may be null.
std::optional<Instant> hedge_due(const RoutePolicy&, const ObservedLatency* latency, Instant start);

/// Pure. `hedged` or `observe_only` if a copy may start now, else the gate that is closed. Only what is safe
/// to repeat whatever came of it is copied: idempotent, body whole and held.
Reason judge_hedge(const Facts&, const Attempt&, const RoutePolicy&, Instant now,
                   std::optional<Instant> deadline, double budget_left);

/// True for a response that nobody would ask for again: it wins against a copy that still runs.
bool ends_race(const Outcome&, const RoutePolicy&);

}  // namespace reprise::policy
