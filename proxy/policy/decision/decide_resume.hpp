// Decides whether a broken download is resumed. Used instead of decide() once the response head was
// delivered.
#pragma once

#include <optional>

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"
#include "proxy/policy/pacing/backoff.hpp"
#include "proxy/policy/pacing/dice.hpp"

namespace reprise::policy {

/// How a delivered body broke, and what can be resumed.
struct Break {
  Cause cause = Cause::truncated;
  bool continuable = false;  ///< the rest of exactly this body can be requested (see `Download`)
  bool progress = false;     ///< the client got body bytes of the attempt that broke
  bool differs = false;      ///< the response to an earlier resume had more bytes than were missing
  /// When the request's signature expires, even if the route ignores signatures: an upstream that checks
  /// signatures rejects later requests (row E11).
  std::optional<Instant> signed_until = std::nullopt;
  bool stays_open = false;  ///< a connection that stalled in this or an earlier break is still open
};

/// Counts of the resumes so far.
struct ResumeHistory {
  unsigned in_vain = 0;  ///< resumes in a row that brought no byte
  Duration wait{};       ///< wait before the latest resume; zero if there was no resume
};

/// Returns the verdict on resuming. Pure. `hints` are those of a response that refused to continue the
/// download. The deadline does not apply. The dice, which draw the wait, are rolled only if all earlier
/// checks pass.
Verdict decide_resume(const Facts&, bool continuable, const ResumeHistory&, const Hints&, const RoutePolicy&,
                      Instant now, Dice&, double budget_left);

/// Returns the reason for a resume that failed without a response: `resumed` if another resume may follow,
/// otherwise why no further resume can help.
Reason reason_after_failure(Cause);

/// Returns the range from which `decide_resume` drew the wait before the next resume, including the hints.
/// The ledger records this range.
WaitRange wait_bounds(const ResumeHistory&, const Hints&, const RoutePolicy&);

}  // namespace reprise::policy
