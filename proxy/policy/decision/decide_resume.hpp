// Decides whether a broken download is resumed: the counterpart of decide() after the response head.
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
  bool continuable = false;  ///< the rest can be requested without doubt: Download
  bool progress = false;     ///< the client got body bytes of the attempt that broke
  bool differs = false;      ///< a continuation had more bytes than the rest
  /// When the request's signature expires, even if the route ignores signatures: an upstream that checks
  /// signatures rejects later requests (row E11).
  std::optional<Instant> signed_until = std::nullopt;
  bool stays_open = false;  ///< the connection has only stalled and may go on, or an earlier stalled one may
};

/// The resumes so far.
struct ResumeHistory {
  unsigned in_vain = 0;  ///< resumes in a row that brought no byte
  Duration wait{};       ///< wait before the last of them; zero if there was none
};

/// Returns the verdict on resuming. Pure. `hints` come from a response that refused to continue. The deadline
/// does not apply. The dice are rolled only if every gate before the wait passes.
Verdict decide_resume(const Facts&, bool continuable, const ResumeHistory&, const Hints&, const RoutePolicy&,
                      Instant now, Dice&, double budget_left);

/// The reason of a resume that ended without a response: `resumed` if another one may follow, else why no
/// repetition mends the failure.
Reason reason_after_failure(Cause);

/// Between what the wait before that resume was drawn, hints included: for the record.
WaitRange wait_bounds(const ResumeHistory&, const Hints&, const RoutePolicy&);

}  // namespace reprise::policy
